// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "autograd/grad_mode.h"
#include "data/collate.h"

namespace moiety::apps {
namespace {

/// Molecules that are collated at a time: memory stays bounded for any data set.
constexpr std::size_t kMoleculesAtATime = 4096;
/// Where smaller parts no longer help: the weights are what does not fit.
constexpr std::int64_t kFewestNodes = 64;

}  // namespace

std::int64_t nodes_per_part(const Device& device) {
  constexpr std::int64_t kOfCache = 320;
  constexpr std::int64_t kOfGpu = 32768;
  return device.is_cuda() ? kOfGpu : kOfCache;
}

std::vector<double> predict_parts(const nn::GraphModel& model, const nn::TargetScaler& scaler,
                                  std::span<const GraphBatch> parts, Device& device) {
  const autograd::NoGrad no_grad;
  std::vector<std::vector<double>> results(parts.size());
  const auto predict_part = [&](std::int64_t i) {
    nn::ForwardContext context;
    const GraphBatch part = to_device(parts[static_cast<std::size_t>(i)], device);
    results[static_cast<std::size_t>(i)] = scaler.restore(model.forward(part, context).data());
  };
  const auto count = static_cast<std::int64_t>(parts.size());
  if (device.is_cuda()) {
    for (std::int64_t i = 0; i < count; ++i) predict_part(i);
  } else {
    device.stream().pool().run(count, predict_part);
  }
  std::vector<double> out;
  for (const auto& result : results) out.insert(out.end(), result.begin(), result.end());
  return out;
}

std::vector<double> predict_in_parts(
    const nn::GraphModel& model, const nn::TargetScaler& scaler,
    const std::function<std::vector<GraphBatch>(std::int64_t nodes)>& collate, Device& device) {
  for (std::int64_t nodes = nodes_per_part(device);; nodes /= 2) {
    try {
      return predict_parts(model, scaler, collate(nodes), device);
    } catch (const MemoryError&) {
      if (!device.is_cuda() || nodes <= kFewestNodes) throw;
    }
  }
}

Predictions predict_rows(const nn::GraphModel& model, const ModelSpec& spec,
                         const data::Dataset& dataset, std::span<const std::int64_t> rows,
                         std::span<const std::size_t> columns, bool names, Device& device) {
  const nn::TargetScaler scaler = spec.scaler();
  Predictions out;
  out.targets = spec.targets;
  for (std::size_t begin = 0; begin < rows.size(); begin += kMoleculesAtATime) {
    const auto some = rows.subspan(begin, std::min(kMoleculesAtATime, rows.size() - begin));
    const auto collate = [&](std::int64_t nodes) {
      return data::collate_parts(dataset, some, nodes, device.host());
    };
    const auto predicted = predict_in_parts(model, scaler, collate, device);
    out.prediction.insert(out.prediction.end(), predicted.begin(), predicted.end());
    const auto append = [](std::vector<std::string>& to, std::vector<std::string> from) {
      to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
    };
    append(out.id, names ? dataset.ids(some) : std::vector<std::string>(some.size()));
    append(out.smiles, names ? dataset.smiles(some) : std::vector<std::string>(some.size()));
    for (const std::int64_t row : some) {
      const auto truth = dataset.targets(row);
      for (const std::size_t column : columns) out.truth.push_back(truth[column]);
      if (columns.empty()) {
        out.truth.insert(out.truth.end(), spec.targets.size(),
                         std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  return out;
}

}  // namespace moiety::apps

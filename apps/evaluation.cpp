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

}  // namespace

std::vector<double> predict_parts(const nn::GraphModel& model, const nn::TargetScaler& scaler,
                                  std::span<const GraphBatch> parts) {
  const autograd::NoGrad no_grad;
  if (parts.empty()) return {};
  std::vector<std::vector<double>> results(parts.size());
  const Stream& stream = parts[0].graph_ptr.device().stream();
  stream.pool().run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
    nn::ForwardContext context;
    const GraphBatch& part = parts[static_cast<std::size_t>(i)];
    results[static_cast<std::size_t>(i)] = scaler.restore(model.forward(part, context).data());
  });
  std::vector<double> out;
  for (const auto& result : results) out.insert(out.end(), result.begin(), result.end());
  return out;
}

Predictions predict_rows(const nn::GraphModel& model, const ModelSpec& spec,
                         const data::Dataset& dataset, std::span<const std::int64_t> rows,
                         std::span<const std::size_t> columns, bool names, Device& device) {
  const nn::TargetScaler scaler = spec.scaler();
  Predictions out;
  out.targets = spec.targets;
  for (std::size_t begin = 0; begin < rows.size(); begin += kMoleculesAtATime) {
    const auto some = rows.subspan(begin, std::min(kMoleculesAtATime, rows.size() - begin));
    const auto parts = data::collate_parts(dataset, some, kNodesPerPart, device);
    const auto predicted = predict_parts(model, scaler, parts);
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

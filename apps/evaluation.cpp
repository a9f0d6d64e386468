// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation.h"

#include "autograd/grad_mode.h"
#include "tensor/graph_batch.h"
#include "tensor/token_batch.h"

namespace moiety::apps {
namespace {

/// Where smaller parts no longer help: the weights are what does not fit.
constexpr std::int64_t kSmallestPart = 64;

template <class Batch>
std::vector<double> predict_parts(
    const std::vector<Batch>& parts,
    const std::function<std::vector<double>(const Batch& part)>& predict, Device& device) {
  std::vector<std::vector<double>> results(parts.size());
  const auto predict_part = [&](std::int64_t i) {
    results[static_cast<std::size_t>(i)] = predict(parts[static_cast<std::size_t>(i)]);
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

}  // namespace

template <class Batch>
std::vector<double> predict_in_parts(
    std::int64_t size, const std::function<std::vector<Batch>(std::int64_t size)>& collate,
    const std::function<std::vector<double>(const Batch& part)>& predict, Device& device) {
  const autograd::NoGrad no_grad;
  for (;; size /= 2) {
    try {
      return predict_parts(collate(size), predict, device);
    } catch (const MemoryError&) {
      if (!device.is_cuda() || size <= kSmallestPart) throw;
    }
  }
}

template std::vector<double> predict_in_parts<GraphBatch>(
    std::int64_t, const std::function<std::vector<GraphBatch>(std::int64_t)>&,
    const std::function<std::vector<double>(const GraphBatch&)>&, Device&);
template std::vector<double> predict_in_parts<TokenBatch>(
    std::int64_t, const std::function<std::vector<TokenBatch>(std::int64_t)>&,
    const std::function<std::vector<double>(const TokenBatch&)>&, Device&);

}  // namespace moiety::apps

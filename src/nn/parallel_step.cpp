// SPDX-License-Identifier: Apache-2.0
#include "nn/parallel_step.h"

#include <algorithm>

#include "autograd/engine.h"
#include "kernels/elementwise.h"

namespace moiety::nn {
namespace {

/// Enough lanes to feed a workstation; each costs a pass over the parameters.
constexpr std::int64_t kMostLanes = 16;

}  // namespace

double ParallelStep::run(std::int64_t parts, const PartLoss& loss, const FlatBuffer& gradients,
                         const Tensor& seed) {
  const Stream& stream = parameters_.device().stream();
  double sum = 0;
  if (parts == 1 || !independent_parts_) {
    for (std::int64_t part = 0; part < parts; ++part) {
      const Variable value = loss(part);
      autograd::backward(value, parameters_.parameters(), gradients.views, seed);
      sum += value.item();
    }
    return sum;
  }
  const std::int64_t lanes = std::min(parts, kMostLanes);
  while (static_cast<std::int64_t>(lanes_.size()) + 1 < lanes) {
    lanes_.push_back(parameters_.make_buffer());
  }
  std::vector<double> values(static_cast<std::size_t>(parts));
  stream.pool().run(lanes, [&](std::int64_t lane) {
    const FlatBuffer& own = lane == 0 ? gradients : lanes_[static_cast<std::size_t>(lane - 1)];
    if (lane > 0) own.flat.fill_zero();
    for (std::int64_t part = lane; part < parts; part += lanes) {
      const Variable value = loss(part);
      autograd::backward(value, parameters_.parameters(), own.views, seed);
      values[static_cast<std::size_t>(part)] = value.item();
    }
  });
  constexpr std::int64_t kElementsOfTask = 16384;  // their sum stays in cache from lane to lane
  parallel_for(stream, parameters_.size(), kElementsOfTask,
               [&](std::int64_t begin, std::int64_t end) {
                 const Tensor total = gradients.flat.slice(0, begin, end);
                 for (std::int64_t lane = 1; lane < lanes; ++lane) {
                   const Tensor& own = lanes_[static_cast<std::size_t>(lane - 1)].flat;
                   kernels::accumulate(stream, own.slice(0, begin, end), total);
                 }
               });
  for (const double v : values) sum += v;
  return sum;
}

}  // namespace moiety::nn

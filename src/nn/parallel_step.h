// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "nn/flat_parameters.h"

namespace moiety::nn {

/// Loss and gradient of a batch that comes in parts, in ONE parallel region: each worker takes a
/// part of the molecules through all layers, forward and backward, while its activations are in its
/// cache. A fork and join per operation would make small models slower on two cores than on one.
///
/// Parts are dealt to a number of lanes that depends on the number of parts alone. The first adds
/// to the caller's gradients and each other one to a buffer of its own, and these are added in
/// order: the same bits on any thread count.
class ParallelStep {
 public:
  /// Parts of models whose forward pass writes state (batch norm's running statistics) are not
  /// independent: they run one after the other, each with its operations in parallel.
  ParallelStep(const FlatParameters& parameters, bool independent_parts)
      : parameters_(parameters), independent_parts_(independent_parts) {}

  /// Loss of one part, a sum that adds up to the batch's loss over the parts.
  using PartLoss = std::function<Variable(std::int64_t part)>;

  /// Adds the gradient of the summed loss, times `seed` of its shape and dtype where that is given,
  /// into `gradients`; returns the summed loss. A batch of one part runs on the calling thread, its
  /// operations in parallel where they are large.
  double run(std::int64_t parts, const PartLoss& loss, const FlatBuffer& gradients,
             const Tensor& seed = {});

 private:
  const FlatParameters& parameters_;
  bool independent_parts_;
  std::vector<FlatBuffer> lanes_;
};

}  // namespace moiety::nn

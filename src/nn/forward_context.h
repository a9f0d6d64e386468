// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/random_streams.h"
#include "tensor/rng.h"

namespace moiety::nn {

/// What a forward pass needs besides its input. One per pass and part of a batch.
class ForwardContext {
 public:
  /// Inference: no dropout, running statistics.
  ForwardContext() = default;
  /// Training step number `step`: dropout masks depend on seed, step, layer and place in the batch.
  static ForwardContext training(std::uint64_t seed, std::uint64_t step) {
    ForwardContext out;
    out.training_ = true;
    out.step_key_ = derive_key(seed, streams::kDropout, step);
    return out;
  }

  bool is_training() const { return training_; }
  /// A key for the next layer that asks; the same sequence in every part of a batch.
  RngKey next_dropout_key() { return derive_key(step_key_.stream, streams::kDropout, layer_++); }

 private:
  bool training_ = false;
  RngKey step_key_;
  std::uint64_t layer_ = 0;
};

}  // namespace moiety::nn

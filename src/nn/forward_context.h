// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "kernels/attention.h"
#include "nn/random_streams.h"
#include "tensor/dtype.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::nn {

/// What a forward pass needs besides its input. One per pass and part of a batch.
class ForwardContext {
 public:
  /// Inference: no dropout, running statistics.
  ForwardContext() = default;
  /// Training step number `step`: dropout masks depend on seed, step, layer and place in the batch.
  /// So do those of a part of the step whose place in the whole is not known.
  static ForwardContext training(std::uint64_t seed, std::uint64_t step, std::int64_t part = 0) {
    ForwardContext out;
    out.training_ = true;
    out.step_key_ = derive_key(seed, streams::kDropout, step);
    if (part > 0) {
      const std::uint64_t step_stream = out.step_key_.stream;
      out.step_key_ = derive_key(step_stream, streams::kStepPart, static_cast<std::uint64_t>(part));
    }
    return out;
  }

  /// A training step that is recorded once and replayed: each time the layers find their keys,
  /// those of training(), in `keys`, i64 [L, 2] on their device.
  static ForwardContext recorded(const Tensor& keys) {
    ForwardContext out;
    out.training_ = true;
    out.keys_ = keys;
    return out;
  }

  /// Lets the layers compute in another dtype than that of the parameters, which are cast where
  /// they are used: their gradients arrive in their own. The head and the loss stay in it.
  void compute_in(DType dtype) { compute_ = dtype; }
  DType compute_dtype(DType parameters) const { return compute_.value_or(parameters); }

  /// Lets attention run on another library's kernels, as AttentionLibrary says.
  void attend_by(kernels::AttentionLibrary library) { attention_ = library; }
  kernels::AttentionLibrary attention() const { return attention_; }

  /// Lets blocks keep their input alone and run again in the backward pass: time for memory.
  void recompute_blocks(bool recomputes) { recomputes_ = recomputes; }
  bool recomputes() const { return recomputes_; }
  /// A pass that was made before: what counts passes, such as running statistics, leaves it out.
  void mark_repeated() { repeated_ = true; }
  bool is_repeated() const { return repeated_; }

  bool is_training() const { return training_; }
  /// i32 [1] on the model's device: nodes or tokens of the batch that are not padding; undefined
  /// when all count.
  const Tensor& rows() const { return rows_; }
  void set_rows(Tensor rows) { rows_ = std::move(rows); }
  bool is_recorded() const { return keys_.defined(); }
  /// A key for the next layer that asks; the same sequence in every part of a batch.
  RngKey next_dropout_key() { return derive_key(step_key_.stream, streams::kDropout, layer_++); }
  /// Keys that layers asked for until now.
  std::size_t keys_taken() const { return layer_; }
  /// The place of that key in a recorded step. Throws Error when there are more layers than keys.
  Tensor next_key_place() {
    const auto layer = static_cast<std::int64_t>(layer_++);
    check(layer < keys_.size(0), "more than ", keys_.size(0), " layers with dropout in a step");
    return keys_.slice(0, layer, layer + 1).reshape({2});
  }

 private:
  bool training_ = false;
  bool recomputes_ = false;
  bool repeated_ = false;
  std::optional<DType> compute_;
  kernels::AttentionLibrary attention_ = kernels::AttentionLibrary::own;
  Tensor rows_;
  RngKey step_key_;
  Tensor keys_;
  std::uint64_t layer_ = 0;
};

}  // namespace moiety::nn

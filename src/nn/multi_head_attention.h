// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/transformer_config.h"
#include "tensor/token_batch.h"

namespace moiety::nn {

/// Multi-head self-attention within each sequence of a batch (Vaswani et al. 2017): queries, keys
/// and values in one product of [(H + 2 G) D, C] rows, attention with dropped weights, an output
/// projection. Rotary positions turn queries and keys where the configuration says so.
class MultiHeadAttention : public Module {
 public:
  /// `out_sd` is that of the output's weights; a causal one sees no tokens behind its own.
  MultiHeadAttention(Initializer& init, const TransformerConfig& config, double out_sd,
                     bool causal);
  /// x [T, C] -> [T, C].
  Variable forward(const Variable& x, const TokenBatch& batch, ForwardContext& context) const;

 private:
  std::int64_t heads_;
  std::int64_t key_heads_;
  std::int64_t head_size_;
  std::int64_t max_length_;
  double dropout_;
  bool causal_;
  Tensor angles_;  // undefined where positions are not rotary
  const Linear* qkv_;
  const Linear* out_;
};

}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/ops/attention.h"
#include "nn/key_value_cache.h"
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
  /// Packed sequences, or with a cache the newest token of each of its sequences.
  struct Rows {
    Tensor ptr;              ///< [B+1] i32: rows of sequence b; not read with a cache
    Tensor positions = {};   ///< [T] i32: places in their sequences; for rotary ones or a cache
    std::int64_t first = 0;  ///< number of the first row in the whole batch
    bool checked = false;    ///< that ptr fits the rows
    const LayerCache* cache = nullptr;  ///< tokens before, which the newest see
  };

  /// x [T, C] -> [T, C].
  Variable forward(const Variable& x, const Rows& rows, ForwardContext& context) const;
  Variable forward(const Variable& x, const TokenBatch& batch, ForwardContext& context,
                   const LayerCache* cache = nullptr) const {
    return forward(x, {batch.ptr, batch.positions, batch.first_token, batch.checked, cache},
                   context);
  }
  /// What the scored tokens alone find: x [T, C], of which `scored` are those rows [S, C]
  /// -> [S, C]. Not for a causal one, whose queries end where their keys do.
  Variable forward_scored(const Variable& x, const Variable& scored, const TokenBatch& batch,
                          ForwardContext& context) const;

 private:
  ops::AttentionOptions options(std::int64_t first, ForwardContext& context) const;
  Variable project(const Variable& mixed) const;

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

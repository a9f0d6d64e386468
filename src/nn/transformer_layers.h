// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/multi_head_attention.h"

namespace moiety::nn {

/// Layer norm or RMS norm, as the configuration says.
class RowNorm : public Module {
 public:
  RowNorm(Initializer& init, const TransformerConfig& config);
  Variable forward(const Variable& x) const;

 private:
  double eps_;
  Variable weight_;
  Variable bias_;  // undefined: RMS norm
};

/// down(activation(up(x))), or down(activation(gate(x)) * up(x)) where the configuration says so,
/// with gate and up in one product: x [T, C] -> [T, C].
class FeedForward : public Module {
 public:
  FeedForward(Initializer& init, const TransformerConfig& config, double out_sd);
  Variable forward(const Variable& x) const;

 private:
  Activation activation_;
  std::int64_t width_;
  bool gated_;
  const Linear* up_;
  const Linear* down_;
};

/// Attention and a feed-forward layer. An encoder's are each added to their input and followed by a
/// norm (Vaswani et al. 2017; RoBERTa), and its tokens see all of their sequence. A decoder's each
/// stand behind a norm and are added to what that norm read (GPT-2); its attention is causal.
class TransformerLayer : public Module {
 public:
  enum class Kind : std::uint8_t { encoder, decoder };

  TransformerLayer(Initializer& init, const TransformerConfig& config, Kind kind);
  /// x [T, C] -> [T, C]; with a cache as MultiHeadAttention.
  Variable forward(const Variable& x, const TokenBatch& batch, ForwardContext& context,
                   const LayerCache* cache = nullptr) const;
  /// An encoder's for the scored tokens alone, which see all of their sequence: [S, C]. What the
  /// last layer says of other tokens nobody reads.
  Variable forward_scored(const Variable& x, const TokenBatch& batch,
                          ForwardContext& context) const;

 private:
  Variable encode(const Variable& x, const Variable& mixed, std::int64_t first_row,
                  ForwardContext& context) const;

  double dropout_;
  Kind kind_;
  const MultiHeadAttention* attention_;
  const RowNorm* attention_norm_;
  const FeedForward* inner_;
  const RowNorm* inner_norm_;
};

}  // namespace moiety::nn

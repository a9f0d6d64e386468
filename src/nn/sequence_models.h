// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "nn/transformer.h"

namespace moiety::nn {

/// Says which token was masked: an encoder, and on the scored tokens a dense layer, GELU, a norm
/// and the token embedding as output weights, with a bias (RobertaForMaskedLM).
class MaskedLanguageModel : public Module {
 public:
  MaskedLanguageModel(Initializer& init, const TransformerConfig& config);
  /// Scores of the scored tokens: [S, V].
  Variable forward(const TokenBatch& batch, ForwardContext& context) const;
  /// Sum of the cross entropies of the labels: [], f32 (f64 for f64).
  Variable loss(const TokenBatch& batch, ForwardContext& context) const;
  const TransformerConfig& config() const { return encoder_->config(); }

 private:
  Variable head(const TokenBatch& batch, ForwardContext& context) const;

  const TransformerEncoder* encoder_;
  const Linear* dense_;
  const RowNorm* norm_;
  Variable bias_;
};

/// Says which token comes next: a decoder with the token embedding as output weights
/// (GPT2LMHeadModel). A token's label is the one that follows it.
class CausalLanguageModel : public Module {
 public:
  CausalLanguageModel(Initializer& init, const TransformerConfig& config);
  /// Scores of the scored tokens: [S, V].
  Variable forward(const TokenBatch& batch, ForwardContext& context) const;
  /// Sum of the cross entropies of the labels: [], f32 (f64 for f64).
  Variable loss(const TokenBatch& batch, ForwardContext& context) const;
  /// Scores of what follows the newest token of each of the cache's R sequences: [R, V]. Reads the
  /// tokens [R] at their positions [R], behind what the cache has kept, and keeps them. Only where
  /// no gradients are recorded.
  Variable next_scores(std::span<const std::int32_t> tokens,
                       std::span<const std::int32_t> positions, const KeyValueCache& cache) const;
  const TransformerConfig& config() const { return decoder_->config(); }

 private:
  const TransformerDecoder* decoder_;
};

/// K numbers a sequence, from its first token: an encoder, then dropout, a dense layer, tanh,
/// dropout, a linear layer (RobertaForSequenceClassification). Regression or classes' scores.
class SequenceModel : public Module {
 public:
  SequenceModel(Initializer& init, const TransformerConfig& config, std::int64_t outputs);
  /// -> [B, K] in the parameters' dtype. The batch must score the first tokens alone.
  Variable forward(const TokenBatch& batch, ForwardContext& context) const;
  const TransformerConfig& config() const { return encoder_->config(); }
  std::int64_t outputs() const { return outputs_; }

 private:
  std::int64_t outputs_;
  DType dtype_;
  const TransformerEncoder* encoder_;
  const Linear* dense_;
  const Linear* out_;
};

}  // namespace moiety::nn

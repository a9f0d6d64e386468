// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "nn/transformer_layers.h"

namespace moiety::nn {

/// Embeddings of tokens, added to those of their positions and of their type, as far as the
/// configuration has them.
class TokenEmbedding : public Module {
 public:
  TokenEmbedding(Initializer& init, const TransformerConfig& config);
  /// [T, C] of a dtype. Throws UserError for a sequence that is longer than the model allows, Error
  /// for a token that is not in the vocabulary.
  Variable forward(const TokenBatch& batch, DType dtype) const;
  /// [V, C]: models of language score tokens with it as well.
  const Variable& tokens() const { return token_; }

 private:
  std::int64_t max_length_;
  Variable token_;
  Variable position_;
  Variable type_;
};

/// RoBERTa (Liu et al. 2019): embedding, norm, dropout, layers with the norm last, in which every
/// token sees all of its sequence.
class TransformerEncoder : public Module {
 public:
  /// Throws UserError for a configuration that cannot be built, naming the recipe key.
  TransformerEncoder(Initializer& init, const TransformerConfig& config);
  /// Rows of the scored tokens, [S, C], of all tokens where the batch names none: [T, C]; in the
  /// context's dtype.
  Variable forward(const TokenBatch& batch, ForwardContext& context) const;
  const TransformerConfig& config() const { return config_; }
  const TokenEmbedding& embedding() const { return *embedding_; }

 private:
  TransformerConfig config_;
  DType dtype_;
  const TokenEmbedding* embedding_;
  const RowNorm* norm_;
  std::vector<const TransformerLayer*> layers_;
};

/// GPT-2 (Radford et al. 2019): embedding, dropout, layers with the norm first, in which a token
/// sees itself and those before it, a last norm.
class TransformerDecoder : public Module {
 public:
  /// Throws UserError for a configuration that cannot be built, naming the recipe key.
  TransformerDecoder(Initializer& init, const TransformerConfig& config);
  /// -> [T, C] in the context's dtype. With a cache the batch is the newest token of each of its
  /// sequences at its position, and needs no pointers.
  Variable forward(const TokenBatch& batch, ForwardContext& context,
                   const KeyValueCache* cache = nullptr) const;
  const TransformerConfig& config() const { return config_; }
  const TokenEmbedding& embedding() const { return *embedding_; }

 private:
  TransformerConfig config_;
  DType dtype_;
  const TokenEmbedding* embedding_;
  std::vector<const TransformerLayer*> layers_;
  const RowNorm* norm_;
};

}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "nn/layers.h"

namespace moiety::nn {

enum class RowNormKind : std::uint8_t { layer, rms };
enum class PositionKind : std::uint8_t { learned, rotary };

/// What encoders and decoders of tokens are made of. The defaults are RoBERTa's and GPT-2's where
/// those agree.
struct TransformerConfig {
  std::int64_t vocabulary = 0;    ///< tokens are 0 .. vocabulary - 1
  std::int64_t max_length = 512;  ///< tokens of the longest sequence
  std::int64_t token_types = 0;   ///< rows of a type embedding whose first all tokens have; 0: none
  std::int64_t hidden = 384;
  std::int64_t layers = 6;
  std::int64_t heads = 12;
  std::int64_t key_heads = 0;  ///< heads of keys and values; 0: as many as `heads`
  std::int64_t inner = 0;      ///< width of the feed-forward layer; 0: 4 hidden
  Activation activation = Activation::gelu;
  bool gated = false;  ///< a gate beside the feed-forward layer; with silu: SwiGLU (Shazeer 2020)
  RowNormKind norm = RowNormKind::layer;
  double norm_eps = 1e-5;
  PositionKind positions = PositionKind::learned;
  double rotary_base = 10000;
  double dropout = 0.1;            ///< of the embedding and of what each layer adds
  double attention_dropout = 0.1;  ///< of attention's weights
  double init_sd = 0.02;           ///< of the weights at the beginning

  std::int64_t head_size() const { return hidden / heads; }
  std::int64_t heads_of_keys() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t inner_width() const { return inner > 0 ? inner : 4 * hidden; }
};

/// Throws UserError naming the recipe key that cannot be.
void check_config(const TransformerConfig& config);

}  // namespace moiety::nn

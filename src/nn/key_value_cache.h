// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "nn/transformer_config.h"

namespace moiety::nn {

/// Keys and values of a layer's tokens so far, for R sequences: [R, G, L, D] each.
class LayerCache {
 public:
  LayerCache(Tensor keys, Tensor values) : keys_(std::move(keys)), values_(std::move(values)) {}

  /// Adds the newest token of each sequence and lets it attend to all so far: q [R, H, D], k and v
  /// [R, G, D], positions [R] i32 -> [R, H, D]. Has no gradient: throws Error where one would be
  /// recorded.
  Variable attend(const Variable& q, const Variable& k, const Variable& v,
                  const Tensor& positions) const;

 private:
  Tensor keys_;
  Tensor values_;
};

/// What a decoder keeps of the tokens that it has read, of R sequences of at most L tokens. A
/// sequence whose next token has position 0 begins anew: what was kept in its row is overwritten.
class KeyValueCache {
 public:
  KeyValueCache(const TransformerConfig& config, std::int64_t rows, std::int64_t length,
                DType dtype, Device& device);

  const LayerCache& layer(std::size_t i) const { return layers_[i]; }
  std::int64_t rows() const { return rows_; }
  std::int64_t length() const { return length_; }

 private:
  std::int64_t rows_;
  std::int64_t length_;
  std::vector<LayerCache> layers_;
};

}  // namespace moiety::nn

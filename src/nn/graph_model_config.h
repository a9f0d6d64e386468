// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/graph_conv.h"

namespace moiety::nn {

enum class PoolKind : std::uint8_t { mean, sum, max };

struct GraphModelConfig {
  ConvKind conv = ConvKind::gcn;
  std::int64_t hidden = 128;
  std::int64_t layers = 5;
  PoolKind pool = PoolKind::mean;
  NormKind norm = NormKind::none;
  Activation activation = Activation::relu;
  double dropout = 0.0;
  bool residual = true;    ///< each layer adds its input to its output
  bool attention = false;  ///< layers are GpsLayers
  std::int64_t heads = 4;  ///< of their attention
  double attention_dropout = 0.0;
  std::int64_t head_layers = 2;
  std::vector<std::int32_t> atom_dims;  ///< classes of each atom feature; empty: x is f32
  std::vector<std::int32_t> bond_dims;  ///< classes of each bond feature (GINE)
  std::int64_t input_features = 0;      ///< columns of x when it is f32
  std::int64_t outputs = 1;
};

/// Parameters of the model that a configuration describes, without building it. Floating point:
/// a configuration may ask for more than can be counted otherwise.
double count_parameters(const GraphModelConfig& config);

/// Throws UserError for a configuration that cannot be built, naming the recipe key.
void check_config(const GraphModelConfig& config);

}  // namespace moiety::nn

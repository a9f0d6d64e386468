// SPDX-License-Identifier: Apache-2.0
#include "nn/gps_layer.h"

#include <cmath>

#include "autograd/ops/elementwise.h"

namespace moiety::nn {
namespace {

/// Attention among atoms has no positions: what an atom is to another, the convolution tells.
TransformerConfig attention_config(const GraphModelConfig& config) {
  constexpr std::int64_t kMostAtoms = std::int64_t{1} << 20;
  TransformerConfig out;
  out.hidden = config.hidden;
  out.heads = config.heads;
  out.attention_dropout = config.attention_dropout;
  out.max_length = kMostAtoms;
  return out;
}

/// Of weights [C, C], as Glorot and Bengio 2010.
double glorot_sd(std::int64_t width) { return 1 / std::sqrt(static_cast<double>(width)); }

}  // namespace

std::unique_ptr<GraphConv> make_conv(Initializer& init, const GraphModelConfig& config) {
  const std::int64_t width = config.hidden;
  switch (config.conv) {
    case ConvKind::gcn:
      return std::make_unique<GcnConv>(init, width, width);
    case ConvKind::gin:
      return std::make_unique<GinConv>(init, width, width, config.activation, config.norm);
    case ConvKind::gine:
      return std::make_unique<GineConv>(init, width, width, config.bond_dims, config.activation,
                                        config.norm);
  }
  throw Error("unknown convolution");
}

GpsLayer::GpsLayer(Initializer& init, const GraphModelConfig& config)
    : dropout_(config.dropout), activation_(config.activation) {
  const std::int64_t width = config.hidden;
  TransformerConfig attention = attention_config(config);
  attention.init_sd = glorot_sd(width);
  conv_ = &adopt_module("conv", make_conv(init, config));
  conv_norm_ = &add_module<Norm>("conv_norm", init, config.norm, width);
  attention_ = &add_module<MultiHeadAttention>("attention", init, attention, attention.init_sd,
                                               /*causal=*/false);
  attention_norm_ = &add_module<Norm>("attention_norm", init, config.norm, width);
  up_ = &add_module<Linear>("up", init, width, 2 * width);
  down_ = &add_module<Linear>("down", init, 2 * width, width);
  out_norm_ = &add_module<Norm>("out_norm", init, config.norm, width);
}

Variable GpsLayer::forward(const Variable& x, const GraphInputs& graph,
                           ForwardContext& context) const {
  const auto drop = [&](const Variable& v) {
    return dropout(v, dropout_, context, graph.batch.first_node);
  };
  const Variable along_bonds = drop(conv_->forward(x, graph, context, ops::Epilogue::none));
  const Variable local = conv_norm_->forward(ops::add(x, along_bonds), context);
  const MultiHeadAttention::Rows atoms{.ptr = graph.batch.graph_ptr,
                                       .first = graph.batch.first_node};
  const Variable among_all = drop(attention_->forward(x, atoms, context));
  const Variable global = attention_norm_->forward(ops::add(x, among_all), context);
  const Variable both = ops::add(local, global);
  const Variable inner = drop(activate(up_->forward(both), activation_));
  return out_norm_->forward(ops::add(both, drop(down_->forward(inner))), context);
}

}  // namespace moiety::nn

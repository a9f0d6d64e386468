// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_model.h"

#include <memory>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "kernels/category.h"
#include "kernels/elementwise.h"
#include "nn/recomputed.h"

namespace moiety::nn {
namespace {

Variable ones(std::int64_t n, DType dtype, Device& device) {
  Tensor out = Tensor::empty({n}, dtype, device);
  kernels::fill(device.stream(), out, 1.0);
  return Variable(out);
}

}  // namespace

GraphModel::GraphModel(Initializer& init, const GraphModelConfig& config)
    : config_(config), dtype_(init.dtype()) {
  check_config(config_);
  const std::int64_t width = config_.hidden;
  if (config_.atom_dims.empty()) {
    atom_linear_ = &add_module<Linear>("atoms", init, config_.input_features, width);
  } else {
    atom_embedding_ = &add_module<CategoricalEmbedding>("atoms", init, config_.atom_dims, width);
  }
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::string number = std::to_string(i);
    if (config_.attention) {
      gps_layers_.push_back(&add_module<GpsLayer>("layer." + number, init, config_));
      continue;
    }
    convs_.push_back(&adopt_module("conv." + number, make_conv(init, config_)));
    norms_.push_back(&add_module<Norm>("norm." + number, init, config_.norm, width));
  }
  std::vector<std::int64_t> head(static_cast<std::size_t>(config_.head_layers), width);
  head.push_back(config_.outputs);
  head_ = &add_module<Mlp>("head", init, head, config_.activation);
}

Variable GraphModel::forward(const GraphBatch& batch, ForwardContext& context) const {
  const DType dtype = context.compute_dtype(dtype_);
  // Layers that run again later need a batch that still lives then.
  const auto kept = context.recomputes() ? std::make_shared<const GraphBatch>(batch)
                                         : std::shared_ptr<const GraphBatch>();
  const GraphInputs graph = prepare_graph(kept ? *kept : batch, dtype);
  Variable h = encode_atoms(batch, dtype);
  const auto layers = static_cast<std::int64_t>(gps_layers_.size() + convs_.size());
  for (std::int64_t i = 0; i < layers; ++i) {
    if (!kept) {
      h = layer(i, h, graph, context);
      continue;
    }
    h = recomputed(modules_of_layer(i), h, context,
                   [this, i, graph, kept](const Variable& x, ForwardContext& pass) {
                     return layer(i, x, graph, pass);
                   });
  }
  return head_->forward(ops::cast(pool(h, batch), dtype_), context);
}

std::vector<const Module*> GraphModel::modules_of_layer(std::int64_t i) const {
  const auto place = static_cast<std::size_t>(i);
  if (!gps_layers_.empty()) return {gps_layers_[place]};
  return {convs_[place], norms_[place]};
}

Variable GraphModel::layer(std::int64_t number, const Variable& x, const GraphInputs& graph,
                           ForwardContext& context) const {
  const auto i = static_cast<std::size_t>(number);
  if (!gps_layers_.empty()) return gps_layers_[i]->forward(x, graph, context);
  const bool drops = context.is_training() && config_.dropout > 0;
  const Variable residual = config_.residual ? x : Variable();
  Variable h;
  if (norms_[i]->is_none() && config_.activation == Activation::relu) {
    h = convs_[i]->forward(x, graph, context, ops::Epilogue::relu);
  } else {
    h = convs_[i]->forward(x, graph, context, ops::Epilogue::none);
    h = norms_[i]->activated(h, config_.activation, context, drops ? Variable() : residual);
    if (!drops) return h;
  }
  h = dropout(h, config_.dropout, context, graph.batch.first_node);
  return residual.defined() ? ops::add(residual, h) : h;
}

Variable GraphModel::encode_atoms(const GraphBatch& batch, DType dtype) const {
  if (atom_embedding_) return atom_embedding_->forward(batch.x, dtype);
  return atom_linear_->forward(ops::cast(Variable(batch.x), dtype));
}

GraphInputs GraphModel::prepare_graph(const GraphBatch& batch, DType dtype) const {
  GraphInputs graph{batch, {}, {}, {}};
  Device& device = batch.graph_ptr.device();
  switch (config_.conv) {
    case ConvKind::gcn: {
      const ops::GcnWeights weights = ops::gcn_weights(batch.adj, Variable(), dtype);
      graph.edge_weight = weights.edge;
      graph.self_weight = weights.self;
      break;
    }
    case ConvKind::gin:
      graph.self_weight = ones(batch.nodes(), dtype, device);
      break;
    case ConvKind::gine:
      graph.bond_kind = Tensor::empty({batch.edges()}, DType::i32, device);
      kernels::combine_categories(device.stream(), batch.edge_attr, config_.bond_dims,
                                  graph.bond_kind);
      break;
  }
  return graph;
}

Variable GraphModel::pool(const Variable& h, const GraphBatch& batch) const {
  switch (config_.pool) {
    case PoolKind::mean:
      return ops::segment_mean(h, batch.graph_ptr);
    case PoolKind::sum:
      return ops::segment_sum(h, batch.graph_ptr);
    case PoolKind::max:
      return ops::segment_max(h, batch.graph_ptr);
  }
  throw Error("unknown pooling");
}

}  // namespace moiety::nn

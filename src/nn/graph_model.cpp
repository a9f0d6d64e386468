// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_model.h"

#include "autograd/ops/elementwise.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "kernels/category.h"
#include "kernels/elementwise.h"

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
  const GraphInputs graph = prepare_graph(batch, dtype);
  Variable h = encode_atoms(batch, dtype);
  for (const GpsLayer* layer : gps_layers_) h = layer->forward(h, graph, context);
  h = convolve(std::move(h), graph, context);
  return head_->forward(ops::cast(pool(h, batch), dtype_), context);
}

Variable GraphModel::convolve(Variable h, const GraphInputs& graph, ForwardContext& context) const {
  const bool drops = context.is_training() && config_.dropout > 0;
  for (std::size_t i = 0; i < convs_.size(); ++i) {
    const Variable residual = config_.residual ? h : Variable();
    if (norms_[i]->is_none() && config_.activation == Activation::relu) {
      h = convs_[i]->forward(h, graph, context, ops::Epilogue::relu);
    } else {
      h = convs_[i]->forward(h, graph, context, ops::Epilogue::none);
      h = norms_[i]->activated(h, config_.activation, context, drops ? Variable() : residual);
      if (!drops) continue;
    }
    h = dropout(h, config_.dropout, context, graph.batch.first_node);
    if (residual.defined()) h = ops::add(residual, h);
  }
  return h;
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

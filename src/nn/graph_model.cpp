// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_model.h"

#include <numeric>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "kernels/category.h"
#include "kernels/elementwise.h"

namespace moiety::nn {
namespace {

void check_config(const GraphModelConfig& c) {
  check<UserError>(c.hidden > 0, "model.hidden must be positive, not ", c.hidden);
  check<UserError>(c.layers > 0, "model.layers must be positive, not ", c.layers);
  check<UserError>(c.head_layers > 0, "model.head_layers must be positive, not ", c.head_layers);
  check<UserError>(c.dropout >= 0 && c.dropout < 1, "model.dropout must be in [0, 1), not ",
                   c.dropout);
  check<UserError>(c.outputs > 0, "the model needs at least one target");
  check<UserError>(!c.atom_dims.empty() || c.input_features > 0,
                   "the data set has no atom features");
  check<UserError>(c.conv != ConvKind::gine || !c.bond_dims.empty(),
                   "model.type = \"gine\" reads bond features and the data set has none: use gcn "
                   "or gin");
}

Variable ones(std::int64_t n, DType dtype, Device& device) {
  Tensor out = Tensor::empty({n}, dtype, device);
  kernels::fill(device.stream(), out, 1.0);
  return Variable(out);
}

double sum_of(const std::vector<std::int32_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), 0.0);
}

}  // namespace

double count_parameters(const GraphModelConfig& config) {
  const auto width = static_cast<double>(config.hidden);
  const double linear = width * width + width;
  const double norm = config.norm == NormKind::none ? 0 : 2 * width;
  const double encoder = config.atom_dims.empty()
                             ? (static_cast<double>(config.input_features) + 1) * width
                             : sum_of(config.atom_dims) * width;
  double layer = linear + norm;
  if (config.conv != ConvKind::gcn) layer += linear + norm;
  if (config.conv == ConvKind::gine) layer += sum_of(config.bond_dims) * width;
  const double outputs = static_cast<double>(config.outputs) * (width + 1);
  return encoder + static_cast<double>(config.layers) * layer +
         static_cast<double>(config.head_layers - 1) * linear + outputs;
}

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
    const std::string name = "conv." + std::to_string(i);
    switch (config_.conv) {
      case ConvKind::gcn:
        convs_.push_back(&add_module<GcnConv>(name, init, width, width));
        break;
      case ConvKind::gin:
        convs_.push_back(
            &add_module<GinConv>(name, init, width, width, config_.activation, config_.norm));
        break;
      case ConvKind::gine:
        convs_.push_back(&add_module<GineConv>(name, init, width, width, config_.bond_dims,
                                               config_.activation, config_.norm));
        break;
    }
    norms_.push_back(&add_module<Norm>("norm." + std::to_string(i), init, config_.norm, width));
  }
  std::vector<std::int64_t> head(static_cast<std::size_t>(config_.head_layers), width);
  head.push_back(config_.outputs);
  head_ = &add_module<Mlp>("head", init, head, config_.activation);
}

Variable GraphModel::forward(const GraphBatch& batch, ForwardContext& context) const {
  const DType dtype = context.compute_dtype(dtype_);
  const GraphInputs graph = prepare_graph(batch, dtype);
  Variable h = encode_atoms(batch, dtype);
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
    h = dropout(h, config_.dropout, context, batch.first_node);
    if (residual.defined()) h = ops::add(residual, h);
  }
  return head_->forward(ops::cast(pool(h, batch), dtype_), context);
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

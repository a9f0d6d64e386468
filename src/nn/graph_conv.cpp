// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_conv.h"

#include "autograd/ops/elementwise.h"
#include "autograd/ops/message_passing.h"

namespace moiety::nn {
namespace {

Variable apply_epilogue(const Variable& x, ops::Epilogue epilogue) {
  return epilogue == ops::Epilogue::relu ? ops::relu(x) : x;
}

}  // namespace

GcnConv::GcnConv(Initializer& init, std::int64_t in, std::int64_t out)
    : linear_(add_module<Linear>("linear", init, in, out)) {}

Variable GcnConv::forward(const Variable& x, const GraphInputs& graph, ForwardContext&,
                          ops::Epilogue epilogue) const {
  // (A x) W^T = A (x W^T): aggregating first leaves bias and activation to the dense product.
  const Variable gathered =
      ops::neighbor_sum(x, graph.batch.adj, graph.edge_weight, graph.self_weight);
  return linear_.forward(gathered, epilogue);
}

GinConv::GinConv(Initializer& init, std::int64_t in, std::int64_t out, Activation activation,
                 NormKind norm)
    : mlp_(add_module<Mlp>("mlp", init, std::vector<std::int64_t>{in, out, out}, activation,
                           norm)) {}

Variable GinConv::forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                          ops::Epilogue epilogue) const {
  const Variable gathered =
      ops::neighbor_sum(x, graph.batch.adj, graph.edge_weight, graph.self_weight);
  return apply_epilogue(mlp_.forward(gathered, context), epilogue);
}

GineConv::GineConv(Initializer& init, std::int64_t in, std::int64_t out,
                   const std::vector<std::int32_t>& bond_dims, Activation activation, NormKind norm)
    : bonds_(add_module<CategoricalEmbedding>("bonds", init, bond_dims, in)),
      combinations_(all_combinations(bond_dims, init.device())),
      mlp_(add_module<Mlp>("mlp", init, std::vector<std::int64_t>{in, out, out}, activation,
                           norm)) {}

Variable GineConv::forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                           ops::Epilogue epilogue) const {
  // One row per kind of bond, of which there are few, instead of one per edge.
  const Variable kinds = bonds_.forward(combinations_, x.dtype());
  const Variable messages = ops::relu_message_sum(x, kinds, graph.batch.adj, graph.bond_kind);
  return apply_epilogue(mlp_.forward(ops::add(x, messages), context), epilogue);
}

Tensor all_combinations(const std::vector<std::int32_t>& dims, Device& device) {
  constexpr std::int64_t kMost = 65536;
  std::int64_t count = 1;
  for (const std::int32_t d : dims) {
    check<UserError>(d > 0 && count * d <= kMost, "edge features have more than ", kMost,
                     " combinations; GINE takes fewer categorical features");
    count *= d;
  }
  std::vector<std::int32_t> rows;
  rows.reserve(static_cast<std::size_t>(count) * dims.size());
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t block = count;
    for (const std::int32_t d : dims) {
      block /= d;
      rows.push_back(static_cast<std::int32_t>(k / block % d));
    }
  }
  return Tensor::from(rows, {count, static_cast<std::int64_t>(dims.size())}, device);
}

}  // namespace moiety::nn

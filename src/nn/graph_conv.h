// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/layers.h"
#include "tensor/graph_batch.h"

namespace moiety::nn {

enum class ConvKind : std::uint8_t { gcn, gin, gine };

/// What the layers of one forward pass share: computed once a batch.
struct GraphInputs {
  const GraphBatch& batch;
  Variable edge_weight;  ///< [E] of the normalised adjacency (GCN)
  Variable self_weight;  ///< [N] of the normalised adjacency (GCN), or ones (GIN)
  Tensor bond_kind;      ///< [E] i32: combination of the bond features (GINE)
};

/// A message-passing layer: x [N, In] -> [N, Out].
class GraphConv : public Module {
 public:
  virtual Variable forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                           ops::Epilogue epilogue) const = 0;
};

/// Kipf and Welling 2017: D^-1/2 (A + I) D^-1/2 x weight^T + bias.
class GcnConv : public GraphConv {
 public:
  GcnConv(Initializer& init, std::int64_t in, std::int64_t out);
  Variable forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                   ops::Epilogue epilogue) const override;

 private:
  const Linear& linear_;
};

/// Xu et al. 2019, GIN-0: MLP(x_i + sum of x_j over neighbours).
class GinConv : public GraphConv {
 public:
  GinConv(Initializer& init, std::int64_t in, std::int64_t out, Activation activation,
          NormKind norm);
  Variable forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                   ops::Epilogue epilogue) const override;

 private:
  const Mlp& mlp_;
};

/// Hu et al. 2020: MLP(x_i + sum of relu(x_j + e_ij)), e_ij the embedding of the bond's categorical
/// features.
class GineConv : public GraphConv {
 public:
  GineConv(Initializer& init, std::int64_t in, std::int64_t out,
           const std::vector<std::int32_t>& bond_dims, Activation activation, NormKind norm);
  Variable forward(const Variable& x, const GraphInputs& graph, ForwardContext& context,
                   ops::Epilogue epilogue) const override;

 private:
  const CategoricalEmbedding& bonds_;
  Tensor combinations_;  // [K, Fe] i32: every combination of the bond features
  const Mlp& mlp_;
};

/// All combinations of categorical features in the order of kernels::combine_categories:
/// [prod(dims), F] i32. Throws UserError when there are more than 65,536.
Tensor all_combinations(const std::vector<std::int32_t>& dims, Device& device);

}  // namespace moiety::nn

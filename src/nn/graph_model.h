// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/graph_conv.h"

namespace moiety::nn {

enum class ConvKind : std::uint8_t { gcn, gin, gine };
enum class PoolKind : std::uint8_t { mean, sum, max };

struct GraphModelConfig {
  ConvKind conv = ConvKind::gcn;
  std::int64_t hidden = 128;
  std::int64_t layers = 5;
  PoolKind pool = PoolKind::mean;
  NormKind norm = NormKind::none;
  Activation activation = Activation::relu;
  double dropout = 0.0;
  bool residual = true;  ///< each layer adds its input to its output
  std::int64_t head_layers = 2;
  std::vector<std::int32_t> atom_dims;  ///< classes of each atom feature; empty: x is f32
  std::vector<std::int32_t> bond_dims;  ///< classes of each bond feature (GINE)
  std::int64_t input_features = 0;      ///< columns of x when it is f32
  std::int64_t outputs = 1;
};

/// Parameters of the model that a configuration describes, without building it. Floating point:
/// a configuration may ask for more than can be counted otherwise.
double count_parameters(const GraphModelConfig& config);

/// Predicts T numbers a molecule: atom embedding, message-passing layers (convolution, norm, ReLU,
/// dropout, residual), pooling over atoms, MLP head.
class GraphModel : public Module {
 public:
  /// Throws UserError for a configuration that cannot be built, naming the recipe key.
  GraphModel(Initializer& init, const GraphModelConfig& config);

  /// -> [M, T] in the parameters' dtype. Atoms are embedded, and layers computed, in the context's.
  Variable forward(const GraphBatch& batch, ForwardContext& context) const;
  const GraphModelConfig& config() const { return config_; }
  /// Whether molecules of a batch influence each other in training (batch norm): such a batch
  /// cannot be split into parts.
  bool couples_molecules() const { return config_.norm == NormKind::batch; }

 private:
  Variable encode_atoms(const GraphBatch& batch, DType dtype) const;
  GraphInputs prepare_graph(const GraphBatch& batch, DType dtype) const;
  Variable pool(const Variable& h, const GraphBatch& batch) const;

  GraphModelConfig config_;
  DType dtype_;
  const CategoricalEmbedding* atom_embedding_ = nullptr;
  const Linear* atom_linear_ = nullptr;
  std::vector<const GraphConv*> convs_;
  std::vector<const Norm*> norms_;
  const Mlp* head_ = nullptr;
};

}  // namespace moiety::nn

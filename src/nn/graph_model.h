// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/gps_layer.h"

namespace moiety::nn {

/// Predicts T numbers a molecule: atom embedding, layers, pooling over atoms, MLP head. A layer is
/// a convolution, norm, activation, dropout and residual, or a GpsLayer.
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
  std::vector<const Module*> modules_of_layer(std::int64_t i) const;
  /// Layer i of either kind.
  Variable layer(std::int64_t i, const Variable& x, const GraphInputs& graph,
                 ForwardContext& context) const;
  GraphInputs prepare_graph(const GraphBatch& batch, DType dtype) const;
  Variable pool(const Variable& h, const GraphBatch& batch) const;

  GraphModelConfig config_;
  DType dtype_;
  const CategoricalEmbedding* atom_embedding_ = nullptr;
  const Linear* atom_linear_ = nullptr;
  std::vector<const GraphConv*> convs_;
  std::vector<const Norm*> norms_;
  std::vector<const GpsLayer*> gps_layers_;  // in place of both
  const Mlp* head_ = nullptr;
};

}  // namespace moiety::nn

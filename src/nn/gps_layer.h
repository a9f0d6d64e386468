// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "nn/graph_model_config.h"
#include "nn/multi_head_attention.h"

namespace moiety::nn {

/// The convolution that a configuration names, of `hidden` channels.
std::unique_ptr<GraphConv> make_conv(Initializer& init, const GraphModelConfig& config);

/// Rampasek et al. 2022, GPS: message passing along bonds and attention among all atoms of a
/// molecule side by side, each with its input added and a norm behind it; their sum goes through a
/// two-layer MLP of twice the width, to which it is added, and a third norm. x [N, C] -> [N, C].
class GpsLayer : public Module {
 public:
  GpsLayer(Initializer& init, const GraphModelConfig& config);
  Variable forward(const Variable& x, const GraphInputs& graph, ForwardContext& context) const;

 private:
  double dropout_;
  Activation activation_;
  const GraphConv* conv_;
  const Norm* conv_norm_;
  const MultiHeadAttention* attention_;
  const Norm* attention_norm_;
  const Linear* up_;
  const Linear* down_;
  const Norm* out_norm_;
};

}  // namespace moiety::nn

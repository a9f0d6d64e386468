// SPDX-License-Identifier: Apache-2.0
#include "apps/exported_head.h"

#include <vector>

namespace moiety::apps {

void fold_scaler(nn::Checkpoint& weights, const std::string& layer,
                 const nn::TargetScaler& scaler) {
  Tensor& weight = weights.tensors.at(layer + ".weight");
  Tensor& bias = weights.tensors.at(layer + ".bias");
  auto w = weight.to_vector<float>();
  auto b = bias.to_vector<float>();
  const std::size_t width = w.size() / b.size();
  for (std::size_t t = 0; t < b.size(); ++t) {
    const double sd = scaler.sd()[t];
    for (std::size_t c = 0; c < width; ++c) {
      w[t * width + c] = static_cast<float>(double{w[t * width + c]} * sd);
    }
    b[t] = static_cast<float>(double{b[t]} * sd + scaler.mean()[t]);
  }
  weight = Tensor::from(w, weight.shape(), weight.device());
  bias = Tensor::from(b, bias.shape(), bias.device());
}

}  // namespace moiety::apps

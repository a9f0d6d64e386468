// SPDX-License-Identifier: Apache-2.0
#include "nn/target_scaler.h"

#include <cmath>

namespace moiety::nn {

TargetScaler::TargetScaler(std::vector<double> mean, std::vector<double> sd)
    : mean_(std::move(mean)), sd_(std::move(sd)) {
  check<ShapeError>(mean_.size() == sd_.size(), "target scaler: ", mean_.size(), " means and ",
                    sd_.size(), " standard deviations");
  for (double& s : sd_) {
    if (!(s > 0) || !std::isfinite(s)) s = 1.0;
  }
}

TargetScaler TargetScaler::identity(std::int64_t targets) {
  const auto n = static_cast<std::size_t>(targets);
  return {std::vector<double>(n, 0.0), std::vector<double>(n, 1.0)};
}

Tensor TargetScaler::standardize(const Tensor& y) const {
  const auto targets = mean_.size();
  check<ShapeError>(y.ndim() == 2 && y.size(1) == static_cast<std::int64_t>(targets),
                    "target scaler: y of shape ", y.shape(), " for ", targets, " targets");
  std::vector<float> values = y.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((values[i] - mean_[i % targets]) / sd_[i % targets]);
  }
  return Tensor::from(values, y.shape(), y.device());
}

std::vector<double> TargetScaler::restore(const Tensor& prediction) const {
  const auto targets = mean_.size();
  const std::vector<float> values = prediction.to_vector<float>();
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = values[i] * sd_[i % targets] + mean_[i % targets];
  }
  return out;
}

}  // namespace moiety::nn

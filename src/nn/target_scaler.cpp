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

Tensor TargetScaler::standardize(const Tensor& y, std::span<const std::size_t> columns) const {
  check<ShapeError>(columns.size() == mean_.size(), "target scaler: ", columns.size(),
                    " columns for ", mean_.size(), " targets");
  const auto width = static_cast<std::size_t>(y.size(1));
  for (const std::size_t column : columns) {
    check<ShapeError>(column < width, "target scaler: column ", column, " of y ", y.shape());
  }
  const std::int64_t molecules = y.size(0);
  Tensor out =
      Tensor::empty({molecules, static_cast<std::int64_t>(columns.size())}, DType::f32, y.device());
  const float* from = y.data<float>();
  float* to = out.data<float>();
  for (std::int64_t m = 0; m < molecules; ++m, from += width) {
    for (std::size_t t = 0; t < columns.size(); ++t) {
      *to++ = static_cast<float>((from[columns[t]] - mean_[t]) / sd_[t]);
    }
  }
  return out;
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

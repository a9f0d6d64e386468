// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace moiety::nn {

/// Standardises targets to mean 0 and standard deviation 1, column by column; missing values (NaN)
/// stay missing. Models train on standardised targets, metrics are in the targets' own unit.
class TargetScaler {
 public:
  /// A standard deviation that is 0 or not finite (a constant column) counts as 1.
  TargetScaler(std::vector<double> mean, std::vector<double> sd);
  static TargetScaler identity(std::int64_t targets);

  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& sd() const { return sd_; }

  /// (y - mean) / sd of the given columns [T] of y: y [M, K] f32 on the host -> [M, T].
  Tensor standardize(const Tensor& y, std::span<const std::size_t> columns) const;
  /// prediction [M, T] f32 -> prediction * sd + mean, row-major.
  std::vector<double> restore(const Tensor& prediction) const;

 private:
  std::vector<double> mean_;
  std::vector<double> sd_;
};

}  // namespace moiety::nn

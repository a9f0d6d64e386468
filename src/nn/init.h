// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::nn {

/// Where and how parameters come to life. Each one takes the next random stream of the seed, so a
/// model's weights depend on its seed and shape alone. Passed by reference through constructors.
class Initializer {
 public:
  explicit Initializer(Device& device, std::uint64_t seed = 0, DType dtype = DType::f32)
      : device_(device), seed_(seed), dtype_(dtype) {}

  Device& device() const { return device_; }
  DType dtype() const { return dtype_; }

  Tensor zeros(const Shape& shape) const { return Tensor::zeros(shape, dtype_, device_); }
  Tensor constant(const Shape& shape, double value) const;
  /// A constant in the dtype of statistics of activations: f32 where parameters are bf16 or f16.
  Tensor statistics(const Shape& shape, double value) const;
  /// Uniform in [-bound, bound).
  Tensor uniform(const Shape& shape, double bound);
  Tensor normal(const Shape& shape, double sd);
  /// Glorot and Bengio 2010: uniform, bound sqrt(6 / (fan_in + fan_out)).
  Tensor glorot(std::int64_t fan_out, std::int64_t fan_in);

 private:
  RngKey next_key();

  Device& device_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  DType dtype_;
};

}  // namespace moiety::nn

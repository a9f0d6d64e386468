// SPDX-License-Identifier: Apache-2.0
#include "nn/init.h"

#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/norm.h"
#include "kernels/random.h"
#include "nn/random_streams.h"

namespace moiety::nn {

RngKey Initializer::next_key() { return derive_key(seed_, streams::kInitialization, next_++); }

Tensor Initializer::constant(const Shape& shape, double value) const {
  Tensor out = Tensor::empty(shape, dtype_, device_);
  kernels::fill(device_.stream(), out, value);
  return out;
}

Tensor Initializer::statistics(const Shape& shape, double value) const {
  Tensor out = Tensor::empty(shape, kernels::statistics_dtype(dtype_), device_);
  kernels::fill(device_.stream(), out, value);
  return out;
}

Tensor Initializer::uniform(const Shape& shape, double bound) {
  Tensor out = Tensor::empty(shape, dtype_, device_);
  kernels::random_uniform(device_.stream(), next_key(), -bound, bound, out);
  return out;
}

Tensor Initializer::normal(const Shape& shape, double sd) {
  Tensor out = Tensor::empty(shape, dtype_, device_);
  kernels::random_normal(device_.stream(), next_key(), 0.0, sd, out);
  return out;
}

Tensor Initializer::glorot(std::int64_t fan_out, std::int64_t fan_in) {
  return uniform({fan_out, fan_in}, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
}

}  // namespace moiety::nn

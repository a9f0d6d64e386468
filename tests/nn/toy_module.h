// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "nn/module.h"
#include "tensor/rng.h"

namespace moiety::nn {

/// Random values of a dtype, uniform in [-1, 1).
inline Tensor random_tensor(const Shape& shape, DType dtype, std::uint64_t stream, Device& device) {
  Tensor out = Tensor::empty(shape, dtype, device);
  visit_float(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      const float uniform =
          random_uniform({.seed = 5, .stream = stream}, static_cast<std::uint64_t>(i));
      out.data<T>()[i] = static_cast<T>(2 * uniform - 1);
    }
  });
  return out;
}

/// A module with parameters of several shapes (none a multiple of the padding) and a buffer.
class ToyModule : public Module {
 public:
  explicit ToyModule(Device& device, DType dtype = DType::f32, std::uint64_t stream = 1) {
    add_parameter("table", random_tensor({7, 3}, dtype, stream, device));
    add_parameter("bias", random_tensor({5}, dtype, stream + 1, device));
    add_parameter("weight", random_tensor({5, 3}, dtype, stream + 2, device));
    add_parameter("gate", random_tensor({2, 2, 2}, dtype, stream + 3, device));
    add_buffer("running_mean", random_tensor({5}, dtype, stream + 4, device));
  }
};

}  // namespace moiety::nn

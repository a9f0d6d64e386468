// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "nn/flat_parameters.h"
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

/// The elements as f64.
inline std::vector<double> numbers_of(const Tensor& tensor) {
  return visit_float(tensor.dtype(), [&]<class T>() {
    const std::vector<T> values = tensor.to_vector<T>();
    return std::vector<double>(values.begin(), values.end());
  });
}

/// Gradients as of training step `step`; those of every seventh are large.
inline void fill_gradients(const FlatBuffer& gradients, int step) {
  const double size = step % 7 == 3 ? 20 : 0.3;
  for (std::size_t i = 0; i < gradients.views.size(); ++i) {
    const Tensor& view = gradients.views[i];
    const auto stream = static_cast<std::uint64_t>(100 * step) + i;
    const Tensor random = random_tensor(view.shape(), view.dtype(), stream, view.device());
    visit_float(view.dtype(), [&]<class T>() {
      for (std::int64_t e = 0; e < view.numel(); ++e) {
        view.data<T>()[e] = static_cast<T>(size) * random.data<T>()[e];
      }
    });
  }
}

}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "tensor/cuda/cuda_device.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::kernels {

/// Random elements in [-range, range), whole ones where the dtype is: the same on every device.
inline Tensor random_tensor(const Shape& shape, DType dtype, Device& device,
                            std::uint64_t number = 1, double range = 2) {
  const auto n = static_cast<std::size_t>(shape.numel());
  return visit_any(dtype, [&]<class T>() {
    const auto values = std::make_unique<T[]>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = range * (2 * moiety::random_uniform({number, 17}, i) - 1);
      if constexpr (std::is_same_v<T, BFloat16>) {
        values[i] = to_bfloat16(static_cast<float>(x));
      } else if constexpr (std::is_same_v<T, Float16>) {
        values[i] = to_float16(static_cast<float>(x));
      } else {
        values[i] = static_cast<T>(is_floating(dtype) ? x : std::fabs(x * 50));
      }
    }
    return Tensor::from<T>(std::span<const T>(values.get(), n), shape, device);
  });
}

/// The same, of one dimension, beginning `skipped` elements after an aligned address.
inline Tensor random_row(std::int64_t n, std::int64_t skipped, DType dtype, Device& device,
                         std::uint64_t number = 1, double range = 2) {
  return random_tensor({n + skipped}, dtype, device, number, range).slice(0, skipped, n + skipped);
}

/// The CPU and a GPU, real or emulated, which must agree. There is an instance a test where there
/// is a GPU.
class BothDevices : public ::testing::TestWithParam<int> {
 protected:
  /// Runs it on both and compares element by element, relative to 1 where elements are smaller.
  void expect_agreement(const std::function<std::vector<Tensor>(Device&)>& run,
                        double tolerance = 0) {
    const std::vector<Tensor> expected = run(*cpu_);
    const std::vector<Tensor> results = run(*gpu_);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      ASSERT_EQ(results[r].shape(), expected[r].shape());
      const auto a = values_of(results[r]);
      const auto b = values_of(expected[r]);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double scale = std::max(1.0, std::fabs(b[i]));
        const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
        ASSERT_TRUE(both_nan || a[i] == b[i] || std::fabs(a[i] - b[i]) <= tolerance * scale)
            << "result " << r << " of " << expected[r].dtype() << " " << expected[r].shape()
            << ", element " << i << ": " << a[i] << ", expected " << b[i];
      }
    }
  }

  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Device> gpu_ = make_cuda_device(GetParam(), 1);

 private:
  std::vector<double> values_of(const Tensor& t) const {
    const Tensor here = t.to(*cpu_);
    return visit_any(t.dtype(), [&]<class T>() {
      const T* data = here.data<T>();
      std::vector<double> out;
      for (std::int64_t i = 0; i < here.numel(); ++i) {
        if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>) {
          out.push_back(to_float(data[i]));
        } else {
          out.push_back(static_cast<double>(data[i]));
        }
      }
      return out;
    });
  }
};

/// The first GPU, or none.
inline auto first_gpu() { return ::testing::Range(0, std::min(1, cuda_status().count)); }

}  // namespace moiety::kernels

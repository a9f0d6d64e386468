// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <limits>

#include "kernels/cuda/both_devices.h"

namespace moiety::kernels {
namespace {

constexpr DType kFloating[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr DType kAll[] = {DType::f32, DType::f64, DType::bf16, DType::f16,
                          DType::i64, DType::i32, DType::u8,   DType::boolean};
constexpr std::int64_t kSizes[] = {0, 1, 17, 1003};

class ElementwiseOnGpu : public BothDevices {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ElementwiseOnGpu);
INSTANTIATE_TEST_SUITE_P(Gpu, ElementwiseOnGpu, first_gpu());

TEST_P(ElementwiseOnGpu, FillsEveryDtype) {
  for (const DType dtype : kAll) {
    for (const std::int64_t n : kSizes) {
      for (const std::int64_t skipped : {0, 1}) {
        expect_agreement([&](Device& device) -> std::vector<Tensor> {
          const Tensor row = random_row(n, skipped, dtype, device);
          fill(device.stream(), row, 1.0);
          return {row};
        });
      }
    }
  }
}

TEST_P(ElementwiseOnGpu, CopiesEveryElementSize) {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    expect_agreement([&](Device& device) -> std::vector<Tensor> {
      const Tensor x = random_tensor({3, 70, 45}, dtype, device);
      const Tensor row = random_tensor({45}, dtype, device, 2);
      const Tensor swapped = Tensor::empty({3, 45, 70}, dtype, device);
      const Tensor part = Tensor::empty({40, 20}, dtype, device);
      const Tensor repeated = Tensor::empty({7, 45}, dtype, device);
      copy(device.stream(), x.transpose(1, 2), swapped);
      copy(device.stream(), x.slice(0, 1, 2).reshape({70, 45}).slice(0, 3, 43).slice(1, 5, 25),
           part);
      copy(device.stream(), row, repeated);
      return {swapped, part, repeated};
    });
  }
}

TEST_P(ElementwiseOnGpu, CastsBetweenFloatingDtypes) {
  for (const DType from : kFloating) {
    for (const DType to : kFloating) {
      for (const std::int64_t n : kSizes) {
        expect_agreement([&](Device& device) -> std::vector<Tensor> {
          const Tensor aligned = Tensor::empty({n}, to, device);
          cast(device.stream(), random_row(n, 0, from, device, 1, 70000), aligned);
          const Tensor other = Tensor::empty({n}, to, device);
          cast(device.stream(), random_row(n, 1, from, device, 2, 1e-3), other);
          return {aligned, other};
        });
      }
    }
  }
}

TEST_P(ElementwiseOnGpu, TakesNumbersOfEverySize) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 1e-30, 88.0, -104.0};
  for (const double size : {3.0, 100.0, 1e5, 1e8, 3e9, 1e22, 1e300}) {
    for (int i = 0; i < 20; ++i)
      numbers.push_back(size * (2 * moiety::random_uniform({1, 2}, i) - 1));
  }
  const auto n = static_cast<std::int64_t>(numbers.size());
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (int op = 0; op <= static_cast<int>(UnaryOp::sign); ++op) {
      expect_agreement(
          [&](Device& device) -> std::vector<Tensor> {
            const Tensor wide = Tensor::from(numbers, {n}, device);
            const Tensor x = Tensor::empty({n}, dtype, device);
            cast(device.stream(), wide, x);
            unary(device.stream(), static_cast<UnaryOp>(op), x, x);
            return {x};
          },
          dtype == DType::f64 ? 1e-13 : 1e-5);
    }
  }
}

TEST_P(ElementwiseOnGpu, ComparesWithNaN) {
  constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> left{1, kNaN, 2, kNaN, -1, 3};
  const std::vector<float> right{kNaN, 1, 2, kNaN, 4, -3};
  for (const auto op : {BinaryOp::maximum, BinaryOp::minimum, BinaryOp::greater_equal}) {
    expect_agreement([&](Device& device) -> std::vector<Tensor> {
      const Tensor a = Tensor::from(left, {6}, device);
      binary(device.stream(), op, a, Tensor::from(right, {6}, device), a);
      return {a};
    });
  }
}

}  // namespace
}  // namespace moiety::kernels

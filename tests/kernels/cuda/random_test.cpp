// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

#include "kernels/cuda/both_devices.h"

namespace moiety::kernels {
namespace {

constexpr RngKey kKey{0x123456789abcdef0, 0xfedcba9876543210};
constexpr std::int64_t kSizes[] = {0, 1, 3, 4, 33, 2001};

class RandomOnGpu : public BothDevices {
 protected:
  /// Runs rule(stream, out), for every size and alignment.
  template <class Rule>
  void expect_same_numbers(DType dtype, const Rule& rule, double tolerance = 0) {
    for (const std::int64_t n : kSizes) {
      for (const std::int64_t skipped : {0, 1}) {
        expect_agreement(
            [&](Device& device) -> std::vector<Tensor> {
              const Tensor row = random_row(n, skipped, dtype, device);
              rule(device.stream(), row);
              return {row};
            },
            tolerance);
      }
    }
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomOnGpu);
INSTANTIATE_TEST_SUITE_P(Gpu, RandomOnGpu, first_gpu());

TEST_P(RandomOnGpu, UniformNumbersAreThoseOfTheCpu) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    expect_same_numbers(dtype, [](const Stream& stream, const Tensor& out) {
      random_uniform(stream, kKey, -1.0, 3.0, out);
    });
  }
}

TEST_P(RandomOnGpu, NormalNumbersAreThoseOfTheCpu) {
  const auto rule = [](const Stream& stream, const Tensor& out) {
    random_normal(stream, kKey, 2.0, 0.5, out);
  };
  expect_same_numbers(DType::f32, rule);
  expect_same_numbers(DType::f64, rule, 1e-14);
}

TEST_P(RandomOnGpu, DropoutLeavesOutWhatTheCpuDoes) {
  for (const std::uint64_t first : {0ull, 1ull, 63ull, 128ull, 0x300000000ull}) {
    for (const double p : {0.0, 0.1, 0.5}) {
      expect_same_numbers(DType::f32, [&](const Stream& stream, const Tensor& out) {
        dropout(stream, kKey, first, p, out, out);
      });
    }
  }
}

}  // namespace
}  // namespace moiety::kernels

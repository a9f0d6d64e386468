// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

#include <limits>

#include "kernels/cuda/both_devices.h"
#include "kernels/norm.h"
#include "kernels/segment.h"

namespace moiety::kernels {
namespace {

class ReductionsOnGpu : public BothDevices {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReductionsOnGpu);
INSTANTIATE_TEST_SUITE_P(Gpu, ReductionsOnGpu, first_gpu());

TEST_P(ReductionsOnGpu, OfEqualLargestTheFirstIsTaken) {
  constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 3) - 4;
  for (const bool missing : {false, true}) {
    if (missing) values[123] = values[207] = values[208] = kNaN;
    expect_agreement([&](Device& device) -> std::vector<Tensor> {
      const Tensor x = Tensor::from(values, {1, 150, 2}, device);
      const Tensor ptr = Tensor::from(std::vector<std::int32_t>{0, 7, 7, 50, 150}, {5}, device);
      std::vector<Tensor> out{
          Tensor::empty({1, 2}, DType::f32, device), Tensor::empty({1, 2}, DType::i32, device),
          Tensor::empty({4, 2}, DType::f32, device), Tensor::empty({4, 2}, DType::i32, device)};
      max(device.stream(), x, out[0], out[1]);
      segment_max(device.stream(), x.reshape({150, 2}), ptr, out[2], out[3]);
      return out;
    });
  }
}

// So many columns that a thread walks more rows than one run has.
TEST_P(ReductionsOnGpu, LongRunsAreThoseOfTheCpu) {
  expect_agreement(
      [](Device& device) -> std::vector<Tensor> {
        const Tensor x = random_tensor({257, 137, 17}, DType::f32, device);
        const Tensor sums = Tensor::empty({257, 17}, DType::f32, device);
        sum(device.stream(), 0.5, x, sums);
        const Tensor wide = random_tensor({137, 8193}, DType::f32, device, 2);
        const Tensor mean = Tensor::empty({8193}, DType::f32, device);
        const Tensor var = Tensor::empty({8193}, DType::f32, device);
        column_statistics(device.stream(), wide, mean, var);
        return {sums, mean, var};
      },
      1e-5);
}

}  // namespace
}  // namespace moiety::kernels

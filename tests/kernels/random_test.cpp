// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu_philox.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

constexpr RngKey kKey{0x123456789abcdef0, 0xfedcba9876543210};

TEST(RandomBlock, EqualsTheScalarGenerator) {
  for (const std::uint64_t block : {0ull, 1ull, 0x3ffffffffull}) {
    const cpu::RandomBlock words(kKey, block);
    for (std::uint64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(words.words()[i], random_u32(kKey, block * 64 + i)) << block << " " << i;
    }
  }
}

class Random : public ::testing::TestWithParam<int> {
 protected:
  Tensor tensor(std::int64_t n, DType dtype = DType::f32) {
    return Tensor::empty({n}, dtype, *device_);
  }
  const Stream& stream() { return device_->stream(); }

  std::unique_ptr<Device> device_ = make_cpu_device(GetParam());
};

TEST_P(Random, UniformIsTheStreamScaled) {
  const Tensor t = tensor(50001);
  random_uniform(stream(), kKey, -1.0, 3.0, t);
  const auto values = t.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], 4 * random_uniform(kKey, i) - 1, 1e-6);
    ASSERT_TRUE(-1 <= values[i] && values[i] < 3);
  }
}

TEST_P(Random, NormalHasItsMomentsAndDependsOnTheIndexAlone) {
  const Tensor t = tensor(400000);
  random_normal(stream(), kKey, 2.0, 0.5, t);
  const auto values = t.to_vector<float>();
  double mean = 0;
  double second = 0;
  double fourth = 0;
  for (float v : values) {
    mean += v;
    second += std::pow((v - 2.0) / 0.5, 2);
    fourth += std::pow((v - 2.0) / 0.5, 4);
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(mean / n, 2.0, 0.004);
  EXPECT_NEAR(second / n, 1.0, 0.01);
  EXPECT_NEAR(fourth / n, 3.0, 0.05);
  const Tensor part = tensor(33);
  random_normal(stream(), kKey, 2.0, 0.5, part);
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 33, part.to_vector<float>().begin()));
}

TEST_P(Random, DoublesAndFloatsAgree) {
  const Tensor wide = tensor(1000, DType::f64);
  const Tensor narrow = tensor(1000);
  random_normal(stream(), kKey, 0.0, 1.0, wide);
  random_normal(stream(), kKey, 0.0, 1.0, narrow);
  const auto a = wide.to_vector<double>();
  const auto b = narrow.to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(static_cast<float>(a[i]), b[i]);
}

INSTANTIATE_TEST_SUITE_P(Threads, Random, ::testing::Values(1, 3));

}  // namespace
}  // namespace moiety::kernels

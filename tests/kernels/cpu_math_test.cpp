// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_math.h"

#include <gtest/gtest.h>

namespace moiety::kernels::cpu {
namespace {

/// Distance of y to the exact value in units of the last place of a float.
double ulps(float y, double exact) {
  if (std::fabs(exact) > std::numeric_limits<float>::max()) return std::isinf(y) ? 0 : 1e9;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(static_cast<double>(y) - exact) / ulp;
}

/// Largest error over floats from low to high, evenly spaced in their bits.
template <class F, class G>
double worst(float low, float high, const F& f, const G& exact) {
  double largest = 0;
  const auto first = std::bit_cast<std::int32_t>(low);
  const auto last = std::bit_cast<std::int32_t>(high);
  const std::int32_t step = std::max((last - first) / 2000003, 1);
  for (std::int64_t bits = first; bits <= last; bits += step) {
    const float x = std::bit_cast<float>(static_cast<std::int32_t>(bits));
    largest = std::max(largest, ulps(f(x), exact(static_cast<double>(x))));
  }
  return largest;
}

/// The same for both signs.
template <class F, class G>
double worst_symmetric(float low, float high, const F& f, const G& exact) {
  return std::max(worst(low, high, f, exact), worst(
                                                  low, high, [&](float x) { return f(-x); },
                                                  [&](double x) { return exact(-x); }));
}

TEST(CpuMath, Exp) {
  const auto f = [](float x) { return math::exp(x); };
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LT(worst_symmetric(1e-30f, 87.0f, f, exact), 1.1);
  EXPECT_LT(worst_symmetric(87.0f, 120.0f, f, exact), 2.0);  // subnormal, overflow
  EXPECT_EQ(math::exp(0.0f), 1.0f);
}

TEST(CpuMath, Log) {
  const auto f = [](float x) { return math::log(x); };
  const auto exact = [](double x) { return std::log(x); };
  EXPECT_LT(worst(1e-45f, 0.9f, f, exact), 1.5);
  EXPECT_LT(worst(0.9f, 1.1f, f, exact), 1.5);
  EXPECT_LT(worst(1.1f, 3e38f, f, exact), 1.5);
  EXPECT_TRUE(std::isnan(math::log(-1.0f)));
}

TEST(CpuMath, Log1p) {
  EXPECT_LT(worst(
                1e-40f, 1.0f, [](float x) { return math::log1p(x); },
                [](double x) { return std::log1p(x); }),
            3.0);
  EXPECT_EQ(math::log1p(0.0f), 0.0f);
}

TEST(CpuMath, Tanh) {
  EXPECT_LT(worst_symmetric(
                1e-30f, 20.0f, [](float x) { return math::tanh(x); },
                [](double x) { return std::tanh(x); }),
            2.0);
}

TEST(CpuMath, Sigmoid) {
  EXPECT_LT(worst_symmetric(
                1e-30f, 87.0f, [](float x) { return math::sigmoid(x); },
                [](double x) { return 1 / (1 + std::exp(-x)); }),
            2.5);
}

TEST(CpuMath, NormalCdf) {
  const auto f = [](float x) { return math::normal_cdf(x); };
  const auto exact = [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); };
  EXPECT_LT(worst_symmetric(1e-30f, 1.0f, f, exact), 2.5);
  EXPECT_LT(worst(1.0f, 30.0f, f, exact), 1.5);
  // The lower tail is as accurate as the upper one, not more: absolute, not relative.
  for (float x = -30.0f; x < -1.0f; x += 1e-4f) {
    ASSERT_NEAR(f(x), exact(static_cast<double>(x)), 6e-8) << x;
  }
}

}  // namespace
}  // namespace moiety::kernels::cpu

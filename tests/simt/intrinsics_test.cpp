// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

template <class T>
class AtomicTest : public testing::Test {
 protected:
  /// The final value and what the threads got, in the order of threads.
  static std::pair<T, std::vector<T>> apply(Atomic kind, const std::vector<T>& values, T start) {
    const SettingsGuard guard;
    simt::settings() = {};
    const DeviceArray<T> in(values);
    const DeviceArray<T> old(values.size());
    const DeviceArray<T> target(std::vector<T>{start});
    EXPECT_EQ(
        apply_atomic(kind, static_cast<int>(values.size()), in.data(), target.data(), old.data()),
        cudaSuccess)
        << violation();
    return {target.get()[0], old.get()};
  }

  template <class Operation>
  static void check(Atomic kind, const std::vector<T>& values, T start, Operation operation) {
    std::vector<T> expected;
    T now = start;
    for (const T value : values) {
      expected.push_back(now);
      now = operation(now, value);
    }
    const auto [final_value, old] = apply(kind, values, start);
    EXPECT_EQ(final_value, now) << static_cast<int>(kind);
    EXPECT_EQ(old, expected) << static_cast<int>(kind);
  }
};
using AtomicTypes = testing::Types<int, unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(AtomicTest, AtomicTypes);

TYPED_TEST(AtomicTest, MatchesPlainLoops) {
  using T = TypeParam;
  const std::vector<T> values{5, 3, 3, 9, 1, 12, 7, 100, 2};
  if constexpr (!std::same_as<T, long long>) {
    this->check(Atomic::add, values, T{2}, [](T a, T b) { return a + b; });
  }
  if constexpr (simt::Integer32<T>) {
    this->check(Atomic::subtract, values, T{2}, [](T a, T b) { return a - b; });
  }
  if constexpr (simt::AtomicOrdered<T>) {
    this->check(Atomic::smallest, values, T{6}, [](T a, T b) { return std::min(a, b); });
    this->check(Atomic::largest, values, T{6}, [](T a, T b) { return std::max(a, b); });
  }
  if constexpr (simt::AtomicExchanged<T>) {
    this->check(Atomic::exchange, values, T{6}, [](T, T b) { return b; });
  }
  if constexpr (simt::AtomicBits<T>) {
    this->check(Atomic::bits_and, values, T{127}, [](T a, T b) { return a & b; });
    this->check(Atomic::bits_or, values, T{64}, [](T a, T b) { return a | b; });
    this->check(Atomic::bits_xor, values, T{64}, [](T a, T b) { return a ^ b; });
    this->check(Atomic::cas, values, T{0}, [](T a, T) { return a + 1; });
  }
}

TEST(Atomic, IntegersWrapAround) {
  const DeviceArray<int> values(std::vector<int>{1});
  const DeviceArray<int> target(std::vector<int>{std::numeric_limits<int>::max()});
  const DeviceArray<int> old(1);
  ASSERT_EQ(apply_atomic(Atomic::add, 1, values.data(), target.data(), old.data()), cudaSuccess);
  EXPECT_EQ(target.get()[0], std::numeric_limits<int>::min());
}

TEST(Intrinsics, CountAndMoveBits) {
  for (const unsigned x : {0u, 1u, 0x80000000u, 0xdeadbeefu, ~0u}) {
    int count = 0;
    int first = 0;
    int leading = 0;
    unsigned reversed = 0;
    for (int bit = 31; bit >= 0; --bit) {
      const bool set = (x >> bit & 1) != 0;
      count += set;
      if (set) first = bit + 1;
      reversed |= static_cast<unsigned>(set) << (31 - bit);
    }
    while (leading < 32 && (x >> (31 - leading) & 1) == 0) ++leading;
    EXPECT_EQ(__popc(x), count);
    EXPECT_EQ(__ffs(static_cast<int>(x)), first);
    EXPECT_EQ(__clz(static_cast<int>(x)), leading);
    EXPECT_EQ(__brev(x), reversed);
    EXPECT_EQ(__popcll(std::uint64_t{x} << 32 | x), 2 * count);
    EXPECT_EQ(__clzll(static_cast<long long>(x)), 32 + leading);
    EXPECT_EQ(__ffsll(static_cast<long long>(std::uint64_t{x} << 32)), x == 0 ? 0 : 32 + first);
  }
  EXPECT_EQ(__umulhi(0x80000000u, 6u), 3u);
  EXPECT_EQ(__mulhi(-0x40000000, 8), -2);
  EXPECT_EQ(__umul64hi(std::uint64_t{1} << 63, 10), 5u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 0x1u, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x2u, 0x1u, 1), 0x80000001u);
}

TEST(Intrinsics, ComputeFloats) {
  EXPECT_FLOAT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_DOUBLE_EQ(rsqrt(16.0), 0.25);
  EXPECT_FLOAT_EQ(__expf(1.5f), std::exp(1.5f));
  EXPECT_FLOAT_EQ(__logf(1.5f), std::log(1.5f));
  EXPECT_FLOAT_EQ(__log2f(8.0f), 3.0f);
  EXPECT_FLOAT_EQ(__log10f(100.0f), 2.0f);
  EXPECT_FLOAT_EQ(__exp10f(2.0f), 100.0f);
  EXPECT_FLOAT_EQ(__powf(2.0f, 5.0f), 32.0f);
  EXPECT_FLOAT_EQ(__sinf(0.5f), std::sin(0.5f));
  EXPECT_FLOAT_EQ(__cosf(0.5f), std::cos(0.5f));
  EXPECT_FLOAT_EQ(__tanf(0.5f), std::tan(0.5f));
  EXPECT_EQ(__fdividef(1.0f, 4.0f), 0.25f);
  EXPECT_EQ(__fmaf_rn(2.0f, 3.0f, 1.0f), 7.0f);
  EXPECT_EQ(__frsqrt_rn(4.0f), 0.5f);
  EXPECT_EQ(__saturatef(-1.0f), 0.0f);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__int_as_float(0x40000000), 2.0f);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(-3.5)), -3.5);
  EXPECT_EQ(::max(NAN, 1.0f), 1.0f);
  EXPECT_EQ(::min(2, -3), -3);
}

}  // namespace
}  // namespace simt_test

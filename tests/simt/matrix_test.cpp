// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "kernels/kernels.h"
#include "simt/tensor_cores.h"
#include "support.h"

namespace simt_test {
namespace {

/// A random number that the format holds exactly: its bits.
std::uint32_t random_bits(Product kind, std::mt19937& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  switch (kind) {
    case Product::bf16:  // exponents near 0
      return (bits & 0x807fu) | (120u + bits / 65536u % 12u) << 7;
    case Product::f16:
      return (bits & 0x83ffu) | (bits / 65536u % 18u) << 10;
    case Product::tf32:
      return (bits & 0x807fe000u) | (120u + bits % 12u) << 23;
  }
  return 0;
}

double value_of(Product kind, std::uint32_t bits) {
  switch (kind) {
    case Product::bf16:
      return std::bit_cast<float>(bits << 16);
    case Product::f16: {
      const double size =
          (bits >> 10 & 31) == 0
              ? std::ldexp(bits & 1023, -24)
              : std::ldexp((bits & 1023) + 1024, static_cast<int>(bits >> 10 & 31) - 25);
      return (bits & 0x8000) != 0 ? -size : size;
    }
    case Product::tf32:
      return std::bit_cast<float>(bits);
  }
  return 0;
}

class ProductTest : public testing::TestWithParam<Product> {};
INSTANTIATE_TEST_SUITE_P(Kinds, ProductTest,
                         testing::Values(Product::bf16, Product::f16, Product::tf32));

TEST_P(ProductTest, MatchesPlainLoops) {
  const Product kind = GetParam();
  const std::size_t depth = kind == Product::tf32 ? 8 : 16;
  std::mt19937 random(5);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint32_t> a(16 * depth);
    std::vector<std::uint32_t> b(depth * 8);
    std::vector<float> d(16 * 8);
    for (std::uint32_t& bits : a) bits = random_bits(kind, random);
    for (std::uint32_t& bits : b) bits = random_bits(kind, random);
    for (float& value : d) value = static_cast<float>(random() % 1000) / 100.0f;
    const DeviceArray<std::uint32_t> left(a);
    const DeviceArray<std::uint32_t> right(b);
    const DeviceArray<float> sums(d);
    ASSERT_EQ(multiply(kind, left.data(), right.data(), sums.data()), cudaSuccess) << violation();
    const std::vector<float> got = sums.get();
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        double sum = d[i * 8 + j];
        for (std::size_t k = 0; k < depth; ++k) {
          sum += value_of(kind, a[i * depth + k]) * value_of(kind, b[k * 8 + j]);
        }
        EXPECT_NEAR(got[i * 8 + j], sum, 1e-5 * std::fabs(sum) + 1e-5) << i << "," << j;
      }
    }
  }
}

TEST(Formats, ConvertTheirSpecialValues) {
  EXPECT_EQ(simt::f16_value(0x3c00), 1.0f);
  EXPECT_EQ(simt::f16_value(0xc000), -2.0f);
  EXPECT_EQ(simt::f16_value(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(simt::f16_value(0x7bff), 65504.0f);
  EXPECT_EQ(simt::f16_value(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(simt::f16_value(0x7e00)));
  EXPECT_EQ(simt::bf16_value(0x3f80), 1.0f);
  EXPECT_EQ(simt::to_tf32(1.0f), 0x3f800000u);
  EXPECT_EQ(simt::to_tf32(std::bit_cast<float>(0x3f801000u)), 0x3f802000u);
  EXPECT_EQ(simt::to_tf32(std::bit_cast<float>(0x3f800fffu)), 0x3f800000u);
  EXPECT_EQ(simt::tf32_value(0x3f801fffu), 1.0f);
}

TEST(LoadMatrices, GivesEachLaneItsPair) {
  std::vector<std::uint16_t> values(32 * 8);
  std::iota(values.begin(), values.end(), std::uint16_t{1000});
  const DeviceArray<std::uint16_t> in(values);
  for (const std::size_t matrices : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      const DeviceArray<std::uint32_t> out(32 * matrices);
      ASSERT_EQ(load_matrices(static_cast<int>(matrices), transposed, in.data(), out.data()),
                cudaSuccess)
          << violation();
      const std::vector<std::uint32_t> got = out.get();
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t m = 0; m < matrices; ++m) {
          const auto element = [&](std::size_t row, std::size_t column) -> std::uint32_t {
            return values[(8 * m + row) * 8 + column];
          };
          const std::size_t g = lane / 4;
          const std::size_t t = lane % 4 * 2;
          const std::uint32_t expected = transposed ? element(t, g) | element(t + 1, g) << 16
                                                    : element(g, t) | element(g, t + 1) << 16;
          EXPECT_EQ(got[lane * matrices + m], expected) << lane << " " << m << " " << transposed;
        }
      }
    }
  }
}

TEST(CopyAsync, LandsAtItsWaitAndFillsWithZeros) {
  std::vector<std::uint8_t> values(2 * 32 * 16);
  std::iota(values.begin(), values.end(), std::uint8_t{3});
  const DeviceArray<std::uint8_t> in(values);
  const DeviceArray<std::uint32_t> early(32);
  for (const int bytes : {4, 8, 16}) {
    for (const int source_bytes : {0, bytes / 2, bytes}) {
      const auto size = static_cast<std::size_t>(bytes);
      const DeviceArray<std::uint8_t> out(64 * size);
      // The check build would object to the early look.
      std::uint32_t* const look = simt::checks_memory() ? nullptr : early.data();
      ASSERT_EQ(copy_async(bytes, source_bytes, in.data(), look, out.data()), cudaSuccess)
          << violation();
      const std::vector<std::uint8_t> got = out.get();
      for (std::size_t i = 0; i < 64 * size; ++i) {
        const bool copied = i % size < static_cast<std::size_t>(source_bytes);
        EXPECT_EQ(got[i], copied ? values[i] : 0) << bytes << " " << source_bytes << " " << i;
      }
      if (look != nullptr) {
        EXPECT_EQ(early.get(), std::vector<std::uint32_t>(32, 0xffffffffu));
      }
    }
  }
}

}  // namespace
}  // namespace simt_test

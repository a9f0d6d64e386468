// SPDX-License-Identifier: Apache-2.0
#include "tensor/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace moiety {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Known answers of philox4x32-10 from Random123's kat_vectors.
static_assert(philox({0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({~0ull, ~0ull}, ~0ull) ==
              Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x299f31d0a4093822, 0x0370734413198a2e}, 0x85a308d3243f6a88) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(Rng, WordsOfAStreamAreTheBlocksInOrder) {
  const RngKey key{7, 11};
  for (std::uint64_t index = 0; index < 64; ++index) {
    EXPECT_EQ(random_u32(key, index), philox(key, index / 4)[index % 4]);
  }
}

TEST(Rng, UniformIsBelowOneWithTheRightMoments) {
  const RngKey key{1, 2};
  constexpr int kCount = 100000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const float x = random_uniform(key, i);
    ASSERT_GE(x, 0.0f);
    ASSERT_LT(x, 1.0f);
    sum += x;
    squares += double{x} * x;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount - mean * mean, 1.0 / 12, 1e-3);
}

TEST(Rng, BelowStaysInRangeAndReachesEverything) {
  const RngKey key{3, 4};
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t value = random_below(key, i, 10);
    ASSERT_LT(value, 10u);
    seen.insert(value);
    ASSERT_LT(random_below(key, i, ~0ull), ~0ull);
    ASSERT_EQ(random_below(key, i, 1), 0u);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(random_below(key, 0, 0), 0u);
}

TEST(Rng, DerivedKeysDifferByPurposeAndNumber) {
  std::set<std::uint64_t> streams;
  for (std::uint64_t purpose = 0; purpose < 20; ++purpose) {
    for (std::uint64_t number = 0; number < 500; ++number) {
      const RngKey key = derive_key(42, purpose, number);
      EXPECT_EQ(key.seed, 42u);
      streams.insert(key.stream);
    }
  }
  EXPECT_EQ(streams.size(), 20u * 500u);
}

}  // namespace
}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

/// Where lane `lane` takes its value from, by the rules of the PTX ISA's shfl.
int source_of(Shuffle kind, int lane, int argument, int width) {
  const int begin = lane / width * width;
  switch (kind) {
    case Shuffle::index:
      return begin + argument % width;
    case Shuffle::up:
      return lane - argument >= begin ? lane - argument : lane;
    case Shuffle::down:
      return lane + argument < begin + width ? lane + argument : lane;
    case Shuffle::xor_lanes:
      return (lane ^ argument) < begin + width ? lane ^ argument : lane;
  }
  return -1;
}

template <class T>
class ShuffleTest : public testing::Test {};
using ShuffledTypes = testing::Types<std::uint8_t, std::uint16_t, float, double>;
TYPED_TEST_SUITE(ShuffleTest, ShuffledTypes);

TYPED_TEST(ShuffleTest, MatchesTheRuleForAllWidths) {
  std::vector<TypeParam> values(32);
  std::iota(values.begin(), values.end(), TypeParam{100});
  const DeviceArray<TypeParam> in(values);
  const DeviceArray<TypeParam> out(32);
  DeviceArray<int> arguments(32);
  for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::xor_lanes}) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int argument = 0; argument < 32; argument += 5) {
        // The lanes of an index shuffle may ask for different ones.
        std::vector<int> asked(32, argument);
        if (kind == Shuffle::index) {
          for (int lane = 0; lane < 32; ++lane)
            asked[static_cast<std::size_t>(lane)] = lane * 7 % 32;
        }
        arguments.set(asked);
        ASSERT_EQ(shuffle(kind, in.data(), arguments.data(), out.data(), width), cudaSuccess)
            << violation();
        const std::vector<TypeParam> got = out.get();
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const int source = source_of(kind, static_cast<int>(lane), asked[lane], width);
          ASSERT_EQ(got[lane], values[static_cast<std::size_t>(source)])
              << "kind " << static_cast<int>(kind) << " lane " << lane << " width " << width
              << " argument " << asked[lane];
        }
      }
    }
  }
}

TEST(Vote, CountsTheLanesOfTheMask) {
  std::vector<unsigned> values(32);
  for (unsigned lane = 0; lane < 32; ++lane) values[lane] = lane * 2654435761u | 4u;
  const DeviceArray<unsigned> in(values);
  const DeviceArray<Votes> out(32);
  for (const unsigned mask : {0xffffffffu, 0x0000ffffu, 0x80000001u, 0x00f0f000u}) {
    ASSERT_EQ(vote(mask, in.data(), out.data()), cudaSuccess) << violation();
    Votes expected{0, mask, 0, 1, 0, ~0u, 0, ~0u, 0, 0, 0x7fffffff};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const unsigned value = values[lane];
      expected.ballot |= (value & 1) << lane;
      expected.any |= (value & 2) != 0;
      expected.all &= (value & 4) != 0;
      expected.add += value;
      expected.smallest = std::min(expected.smallest, value);
      expected.largest = std::max(expected.largest, value);
      expected.bits_and &= value;
      expected.bits_or |= value;
      expected.signed_smallest = std::min(expected.signed_smallest, static_cast<int>(value));
    }
    const std::vector<Votes> got = out.get();
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      EXPECT_EQ(got[lane].ballot, expected.ballot);
      EXPECT_EQ(got[lane].any, expected.any);
      EXPECT_EQ(got[lane].all, expected.all);
      EXPECT_EQ(got[lane].add, expected.add);
      EXPECT_EQ(got[lane].smallest, expected.smallest);
      EXPECT_EQ(got[lane].largest, expected.largest);
      EXPECT_EQ(got[lane].bits_and, expected.bits_and);
      EXPECT_EQ(got[lane].bits_or, expected.bits_or);
      EXPECT_EQ(got[lane].signed_add, static_cast<int>(expected.add));
      EXPECT_EQ(got[lane].signed_smallest, expected.signed_smallest);
      // Whoever is outside the mask has exited before the first vote was over.
      EXPECT_EQ(got[lane].active & ~mask, 0u);
      EXPECT_NE(got[lane].active >> lane & 1, 0u);
    }
  }
}

}  // namespace
}  // namespace simt_test

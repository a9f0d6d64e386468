// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

/// Runs under one of the orders of threads and blocks.
class BlockTest : public testing::TestWithParam<simt::Settings> {
 protected:
  BlockTest() { simt::settings() = GetParam(); }
  SettingsGuard guard_;
};
INSTANTIATE_TEST_SUITE_P(Orders, BlockTest, testing::ValuesIn(all_orders()));

TEST_P(BlockTest, EveryThreadRunsOnceWithItsIndex) {
  for (const auto& [grid, block] :
       {std::pair{dim3(1), dim3(1)}, std::pair{dim3(3), dim3(33)},
        std::pair{dim3(2, 3, 2), dim3(4, 5, 3)}, std::pair{dim3(2), dim3(1024)}}) {
    const std::size_t count = std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
    const DeviceArray<int> out(count);
    const DeviceArray<int> visits(std::vector<int>{0});
    ASSERT_EQ(fill_indices(grid, block, out.data(), visits.data()), cudaSuccess) << violation();
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(out.get(), expected);
    EXPECT_EQ(visits.get()[0], static_cast<int>(count));
  }
}

TEST_P(BlockTest, BarriersCountVotes) {
  const DeviceArray<int> out(3);
  for (const int threads : {1, 31, 32, 33, 128}) {
    for (const int yes : {0, 1, threads / 2, threads}) {
      std::vector<int> predicates(static_cast<std::size_t>(threads));
      for (int i = 0; i < yes; ++i) predicates[static_cast<std::size_t>(i)] = 5;
      const DeviceArray<int> in(predicates);
      ASSERT_EQ(block_votes(threads, in.data(), out.data()), cudaSuccess) << violation();
      EXPECT_EQ(out.get(), (std::vector<int>{yes, yes > 0, yes == threads}));
    }
  }
}

TEST_P(BlockTest, SharedMemoryIsExchangedBetweenBarriers) {
  std::vector<float> values(4 * 256);
  std::iota(values.begin(), values.end(), 0.0f);
  const DeviceArray<float> data(values);
  ASSERT_EQ(reverse_blocks(4, 256, 3, data.data()), cudaSuccess) << violation();
  for (auto part = values.begin(); part != values.end(); part += 256)
    std::reverse(part, part + 256);
  EXPECT_EQ(data.get(), values);
}

TEST_P(BlockTest, ExitedThreadsDoNotHoldBarriers) {
  const DeviceArray<int> sum(1);
  for (const int last : {0, 20, 31, 32, 99}) {
    ASSERT_EQ(early_exit(100, last, sum.data()), cudaSuccess) << violation();
    EXPECT_EQ(sum.get()[0], last * (last + 1) / 2);
  }
}

TEST_P(BlockTest, NamedBarriersJoinProducersAndConsumers) {
  constexpr int kRounds = 5;
  const DeviceArray<int> out(32 * kRounds);
  ASSERT_EQ(produce_consume(kRounds, out.data()), cudaSuccess) << violation();
  const std::vector<int> got = out.get();
  for (int round = 0; round < kRounds; ++round) {
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(got[static_cast<std::size_t>(round * 32 + lane)], round * 100 + 31 - lane);
    }
  }
}

TEST_P(BlockTest, TheLastBlockSeesWhatTheOthersPublished) {
  const DeviceArray<int> parts(10);
  const DeviceArray<unsigned> counter(std::vector<unsigned>{0});
  const DeviceArray<int> sum(1);
  ASSERT_EQ(last_block_sums(10, parts.data(), counter.data(), sum.data()), cudaSuccess)
      << violation();
  EXPECT_EQ(sum.get()[0], 55);
}

TEST_P(BlockTest, SpinLocksLetTheirHoldersRun) {
  const DeviceArray<int> lock(std::vector<int>{0});
  const DeviceArray<int> counter(std::vector<int>{0});
  ASSERT_EQ(spin_lock(40, lock.data(), counter.data()), cudaSuccess) << violation();
  EXPECT_EQ(counter.get()[0], 40);
}

std::vector<int> order_under(simt::Order order, std::uint64_t seed) {
  const SettingsGuard guard;
  simt::settings().order = order;
  simt::settings().seed = seed;
  simt::settings().preempt = 0;
  const DeviceArray<unsigned> position(std::vector<unsigned>{0});
  const DeviceArray<int> turns(4 * 40);
  EXPECT_EQ(record_order(4, 40, position.data(), turns.data()), cudaSuccess) << violation();
  return turns.get();
}

TEST(Order, IsWhatWasAskedFor) {
  std::vector<int> ascending(160);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_EQ(order_under(simt::Order::sequential, 1), ascending);
  std::vector<int> random = order_under(simt::Order::random, 3);
  EXPECT_EQ(random, order_under(simt::Order::random, 3));
  EXPECT_NE(random, order_under(simt::Order::random, 4));
  EXPECT_NE(random, ascending);
  std::sort(random.begin(), random.end());
  EXPECT_EQ(random, ascending);
  std::reverse(ascending.begin(), ascending.end());
  EXPECT_EQ(order_under(simt::Order::reverse, 1), ascending);
}

TEST(FastPath, ThreadsThatNeverWaitShareAStack) {
  const SettingsGuard guard;
  simt::settings().preempt = 0;
  const DeviceArray<int> out(1000 * 256);
  const DeviceArray<int> visits(std::vector<int>{0});
  const simt::Counters before = simt::counters();
  ASSERT_EQ(fill_indices(dim3(1000), dim3(256), out.data(), visits.data()), cudaSuccess);
  const simt::Counters after = simt::counters();
  EXPECT_EQ(after.launches, before.launches + 1);
  EXPECT_EQ(after.blocks, before.blocks + 1000);
  EXPECT_EQ(after.switches, before.switches);
  EXPECT_EQ(after.violations, before.violations);
}

}  // namespace
}  // namespace simt_test

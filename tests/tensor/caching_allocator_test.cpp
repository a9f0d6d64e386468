// SPDX-License-Identifier: Apache-2.0
#include "tensor/caching_allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tensor/error.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"
#include "tensor/thread_pool.h"
#include "tensor/thread_state.h"

namespace moiety {
namespace {

using Block = CachingAllocator::Block;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// What a fake source has given out, shared with the test that outlives it.
struct Ledger {
  std::size_t limit = ~std::size_t{0};
  std::atomic<std::size_t> held{0};
  std::atomic<int> taken{0};
  std::atomic<int> returned{0};
};

class FakeSource final : public SlabSource {
 public:
  explicit FakeSource(Ledger& ledger) : ledger_(ledger) {}
  void* take(std::size_t bytes) override {
    check<MemoryError>(ledger_.held + bytes <= ledger_.limit, "the fake source is empty");
    ledger_.held += bytes;
    ++ledger_.taken;
    return std::aligned_alloc(4096, bytes);
  }
  void give_back(void* slab, std::size_t bytes) noexcept override {
    ledger_.held -= bytes;
    ++ledger_.returned;
    std::free(slab);
  }

 private:
  Ledger& ledger_;
};

class Allocator : public testing::Test {
 protected:
  Ledger ledger_;
  CachingAllocator allocator_{std::make_unique<FakeSource>(ledger_)};
};

TEST_F(Allocator, BlocksAreAlignedDisjointAndAtMostAnEighthTooLarge) {
  std::vector<Block> blocks;
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 1; bytes < 3 * kMiB; bytes += 1 + bytes / 7) {
    for (std::size_t size : {bytes - 1, bytes, bytes + 1}) {
      if (size == 0) continue;
      const std::size_t before = allocator_.stats().bytes_in_use;
      blocks.push_back(allocator_.allocate(size));
      sizes.push_back(size);
      const std::size_t rounded = allocator_.stats().bytes_in_use - before;
      ASSERT_GE(rounded, size);
      ASSERT_LE(rounded, std::max(size + 63, size + size / 8 + 64));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().data) % 64, 0u);
      std::memset(blocks.back().data, static_cast<int>(blocks.size() % 251), size);
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].data);
    ASSERT_EQ(bytes[0], (i + 1) % 251);
    ASSERT_EQ(bytes[sizes[i] - 1], (i + 1) % 251);
    allocator_.deallocate(blocks[i]);
  }
  EXPECT_EQ(allocator_.stats().bytes_in_use, 0u);
}

TEST_F(Allocator, NothingForNothing) {
  const Block block = allocator_.allocate(0);
  EXPECT_EQ(block.data, nullptr);
  allocator_.deallocate(block);
  EXPECT_EQ(allocator_.stats().allocations, 0u);
}

TEST_F(Allocator, RefusesNonsense) {
  EXPECT_THROW(allocator_.allocate(~std::size_t{0}), Error);
  EXPECT_THROW(allocator_.allocate((std::size_t{1} << 48) + 1), Error);
  EXPECT_EQ(ledger_.taken, 0);
}

TEST_F(Allocator, ReusesTheLastFreedBlockOfItsClass) {
  const Block a = allocator_.allocate(1000);
  allocator_.deallocate(a);
  const Block b = allocator_.allocate(990);  // the same class
  EXPECT_EQ(a.data, b.data);
  allocator_.deallocate(b);
  EXPECT_EQ(ledger_.taken, 1);
}

TEST_F(Allocator, ReusesABlockHalfAsLargeAgainButNoLarger) {
  const Block large = allocator_.allocate(12 * kMiB);
  allocator_.deallocate(large);
  const Block fits = allocator_.allocate(8 * kMiB + 1);
  EXPECT_EQ(fits.data, large.data);
  EXPECT_EQ(allocator_.stats().bytes_in_use, 12 * kMiB) << "counted at its own size";
  allocator_.deallocate(fits);
  const Block smaller = allocator_.allocate(7 * kMiB);
  EXPECT_NE(smaller.data, large.data) << "more than half as large again";
  allocator_.deallocate(smaller);
}

TEST_F(Allocator, CountsWhatItHoldsAndHandsOut) {
  const Block a = allocator_.allocate(64);
  const Block b = allocator_.allocate(20 * kMiB);
  AllocatorStats stats = allocator_.stats();
  EXPECT_EQ(stats.bytes_in_use, 64 + 20 * kMiB);
  EXPECT_EQ(stats.bytes_reserved, 32 * kMiB + 20 * kMiB) << "a shared slab, and one for b alone";
  EXPECT_EQ(stats.bytes_reserved, ledger_.held);
  EXPECT_EQ(stats.system_calls, 2u);
  EXPECT_EQ(stats.allocations, 2u);
  allocator_.deallocate(b);
  allocator_.deallocate(a);
  stats = allocator_.stats();
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.peak_in_use, 64 + 20 * kMiB);
  EXPECT_EQ(stats.bytes_reserved, 52 * kMiB);
}

TEST_F(Allocator, TrimGivesBackWhatIsFree) {
  const Block small = allocator_.allocate(100);
  const Block large = allocator_.allocate(20 * kMiB);
  const Block kept = allocator_.allocate(10 * kMiB);
  std::memset(kept.data, 7, 10 * kMiB);
  allocator_.deallocate(large);
  allocator_.trim();
  EXPECT_EQ(ledger_.held, 42 * kMiB) << "the large free slab alone";
  EXPECT_EQ(static_cast<char*>(kept.data)[10 * kMiB - 1], 7);
  allocator_.deallocate(kept);
  allocator_.deallocate(small);
  allocator_.trim();
  EXPECT_EQ(ledger_.held, 0u);
  EXPECT_EQ(allocator_.stats().bytes_reserved, 0u);
  allocator_.deallocate(allocator_.allocate(20 * kMiB));
  EXPECT_EQ(ledger_.held, 20 * kMiB) << "works on after a trim";
}

TEST_F(Allocator, GivesBackFreeSlabsBeforeItGivesUp) {
  ledger_.limit = 64 * kMiB;
  allocator_.deallocate(allocator_.allocate(60 * kMiB));
  const Block other = allocator_.allocate(20 * kMiB);  // no fit, and no room beside the first
  EXPECT_EQ(ledger_.held, 20 * kMiB);
  EXPECT_THROW(allocator_.allocate(60 * kMiB), Error);
  EXPECT_EQ(allocator_.stats().bytes_in_use, 20 * kMiB) << "a refusal leaves no trace";
  allocator_.deallocate(other);
  allocator_.deallocate(allocator_.allocate(60 * kMiB));
}

TEST(AllocatorEnd, ReturnsEverySlab) {
  Ledger ledger;
  {
    CachingAllocator allocator(std::make_unique<FakeSource>(ledger));
    for (std::size_t bytes : {std::size_t{100}, 5 * kMiB, 50 * kMiB}) {
      allocator.deallocate(allocator.allocate(bytes));
    }
  }
  EXPECT_EQ(ledger.held, 0u);
  EXPECT_EQ(ledger.taken, ledger.returned);
}

TEST_F(Allocator, BlocksGoHomeToTheirLaneWhoeverFreesThem) {
  Block block;
  std::thread([&] {
    thread_state().lane = 5;
    block = allocator_.allocate(256);
  }).join();
  EXPECT_EQ(block.lane, 5);
  allocator_.deallocate(block);
  const Block here = allocator_.allocate(256);
  EXPECT_NE(here.data, block.data) << "lane 0 has memory of its own";
  std::thread([&] {
    thread_state().lane = 5;
    const Block again = allocator_.allocate(256);
    EXPECT_EQ(again.data, block.data);
    allocator_.deallocate(again);
  }).join();
  allocator_.deallocate(here);
}

TEST_F(Allocator, LanesBeyondTheLastAreShared) {
  std::thread([&] {
    thread_state().lane = 1000;
    const Block block = allocator_.allocate(64);
    EXPECT_EQ(block.lane, 1000 % 64);
    allocator_.deallocate(block);
  }).join();
}

// Workers allocate while each frees what the others left: no block is handed out twice, no byte is
// lost. The thread sanitizer watches.
TEST_F(Allocator, ThreadsTradeBlocks) {
  ThreadPool pool(4);
  std::mutex mutex;
  std::vector<std::pair<Block, std::size_t>> shelf;
  pool.run(64, [&](std::int64_t task) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const RngKey key{1, static_cast<std::uint64_t>(task)};
      const std::size_t bytes = 1 + random_below(key, i, 100000);
      const Block mine = allocator_.allocate(bytes);
      std::memset(mine.data, static_cast<int>(task), bytes);
      const std::lock_guard lock(mutex);
      shelf.emplace_back(mine, bytes);
      std::swap(shelf.back(), shelf[random_below(key, i + 1000, shelf.size())]);
      const auto [block, size] = shelf.back();
      const auto* bytes_there = static_cast<const unsigned char*>(block.data);
      ASSERT_EQ(bytes_there[0], bytes_there[size - 1]);
      if (i % 3 != 0) {
        allocator_.deallocate(block);
        shelf.pop_back();
      }
    }
  });
  for (const auto& [block, bytes] : shelf) allocator_.deallocate(block);
  const AllocatorStats stats = allocator_.stats();
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.allocations, 64u * 200u);
}

TEST_F(Allocator, TrimIsSafeWhileOthersAllocate) {
  ThreadPool pool(3);
  pool.run(300, [&](std::int64_t task) {
    if (task % 10 == 0) allocator_.trim();
    const std::size_t bytes = task % 2 == 0 ? 9 * kMiB : 1000;
    const Block block = allocator_.allocate(bytes);
    static_cast<char*>(block.data)[bytes - 1] = 1;
    allocator_.deallocate(block);
  });
  allocator_.trim();
  EXPECT_EQ(ledger_.held, 0u);
}

// Batches of random sizes, as a loader makes them: after the first few steps nothing comes from the
// system any more, in any lane.
TEST(SystemMemory, ASteadyStateTakesNothingFromTheSystem) {
  const auto device = make_cpu_device(2);
  const auto step = [&](std::uint64_t number) {
    const auto nodes = static_cast<std::int64_t>(1000 + random_below({1, 1}, number, 300));
    std::vector<Tensor> activations;
    for (int layer = 0; layer < 6; ++layer) {
      activations.push_back(Tensor::empty({nodes, 64}, DType::f32, *device));
      activations.push_back(Tensor::zeros({nodes * 2, 16}, DType::f32, *device));
    }
    parallel_for(device->stream(), 8, 1, [&](std::int64_t begin, std::int64_t) {
      Tensor::zeros({nodes / 8 + begin, 64}, DType::f32, *device);
    });
  };
  std::atomic<int> met{0};
  device->stream().pool().run(2, [&](std::int64_t) {  // both lanes have memory from here on
    Tensor::zeros({64}, DType::f32, *device);
    for (++met; met < 2;) std::this_thread::yield();
  });
  for (std::uint64_t number = 0; number < 20; ++number) step(number);
  const AllocatorStats warm = device->allocator().stats();
  for (std::uint64_t number = 20; number < 400; ++number) step(number);
  const AllocatorStats after = device->allocator().stats();
  EXPECT_EQ(after.system_calls, warm.system_calls);
  EXPECT_EQ(after.bytes_reserved, warm.bytes_reserved);
  EXPECT_EQ(after.bytes_in_use, 0u);
  EXPECT_GT(after.allocations, warm.allocations);
}

TEST(SystemMemory, ExhaustionIsAnErrorThatSaysWhatWasAskedHeldAndFree) {
  const auto device = make_cpu_device(1);
  const Tensor held = Tensor::zeros({40 << 20}, DType::u8, *device);
  const std::size_t asked = 2 * device->memory().total;  // the address space has room for it
  try {
    device->allocator().allocate(asked);
    FAIL() << "no error";
  } catch (const MemoryError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("out of memory on cpu: asked for ")) << text;
    EXPECT_NE(text.find("this process holds 72 MiB, "), std::string::npos) << text;
    EXPECT_NE(text.find(" MiB are free"), std::string::npos) << text;
  }
  EXPECT_THROW(device->allocator().allocate(std::size_t{1} << 60), MemoryError);
}

}  // namespace
}  // namespace moiety

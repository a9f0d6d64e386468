// SPDX-License-Identifier: Apache-2.0
#include "tensor/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "tensor/error.h"
#include "tensor/thread_state.h"

namespace moiety {
namespace {

class Pool : public testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, Pool, testing::Values(1, 2, 3, 4));

TEST_P(Pool, RunsEveryTaskOnce) {
  EXPECT_EQ(pool_.threads(), GetParam());
  for (std::int64_t count : {-1, 0, 1, 2, 3, 4, 5, 31, 32, 33, 1000}) {
    std::vector<int> hits(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), 0);
    pool_.run(count, [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
    for (int hit : hits) ASSERT_EQ(hit, 1) << "of " << count;
  }
}

// Plain memory written in one region is read in the next by whichever thread claims it: a missing
// fence shows under the thread sanitizer, a lost wake-up as a hang.
TEST_P(Pool, ManySmallRegionsHandOverTheirResults) {
  std::vector<std::int64_t> values(7, 0);
  for (int region = 0; region < 5000; ++region) {
    pool_.run(7, [&](std::int64_t i) { values[static_cast<std::size_t>((i + region) % 7)] += 1; });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), 7 * 5000);
}

TEST_P(Pool, WakesWorkersThatFellAsleep) {
  for (int region = 0; region < 30; ++region) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than workers spin
    std::atomic<int> hits{0};
    pool_.run(8, [&](std::int64_t i) {
      if (i == 7) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the caller sleeps
      ++hits;
    });
    ASSERT_EQ(hits, 8);
  }
}

TEST_P(Pool, NestedRegionsRunInlineInOrder) {
  std::vector<std::vector<std::int64_t>> order(16);
  pool_.run(16, [&](std::int64_t i) {
    auto& inner = order[static_cast<std::size_t>(i)];
    pool_.run(5, [&](std::int64_t j) { inner.push_back(j); });
  });
  for (const auto& inner : order) EXPECT_EQ(inner, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST_P(Pool, RethrowsTheLowestFailureAndStaysUsable) {
  for (int round = 0; round < 200; ++round) {
    try {
      pool_.run(100, [](std::int64_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "3");
    }
  }
  std::atomic<int> hits{0};
  pool_.run(10, [&](std::int64_t) { ++hits; });
  EXPECT_EQ(hits, 10);
  EXPECT_FALSE(thread_state().in_parallel);
}

TEST_P(Pool, TasksKnowThatTheyAreOnAnyNumberOfThreads) {
  std::atomic<int> inside{0};
  pool_.run(8, [&](std::int64_t) { inside += thread_state().in_parallel; });
  EXPECT_EQ(inside, 8);
  pool_.run(1, [&](std::int64_t) { inside += thread_state().in_parallel; });  // no region
  EXPECT_EQ(inside, 8);
  EXPECT_FALSE(thread_state().in_parallel);
}

TEST_P(Pool, TasksRunUnderTheCallersGradMode) {
  for (bool enabled : {false, true, false}) {
    thread_state().grad_enabled = enabled;
    std::atomic<int> equal{0};
    pool_.run(64, [&](std::int64_t) { equal += thread_state().grad_enabled == enabled; });
    EXPECT_EQ(equal, 64);
  }
  thread_state().grad_enabled = true;
}

TEST_P(Pool, EveryThreadHasALaneOfItsOwn) {
  std::mutex mutex;
  std::map<std::thread::id, std::set<int>> lanes;
  pool_.run(64, [&](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex);
    lanes[std::this_thread::get_id()].insert(thread_state().lane);
  });
  std::set<int> all;
  for (const auto& [thread, own] : lanes) {
    EXPECT_EQ(own.size(), 1u);
    EXPECT_TRUE(all.insert(*own.begin()).second) << "two threads share a lane";
    EXPECT_LT(*own.begin(), GetParam());
  }
  EXPECT_EQ(thread_state().lane, 0);
}

TEST_P(Pool, CallersOnOtherThreadsTakeTurns) {
  std::atomic<std::int64_t> sum{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller) {
      callers.emplace_back([&] {
        for (int region = 0; region < 300; ++region) {
          pool_.run(5, [&](std::int64_t i) { sum += i; });
        }
      });
    }
  }
  EXPECT_EQ(sum, 3 * 300 * 10);
}

TEST(ThreadPool, StartsAndStopsQuickly) {
  for (int round = 0; round < 100; ++round) {
    ThreadPool unused(4);
  }
}

TEST(ThreadPool, NeedsAThread) {
  EXPECT_THROW(ThreadPool(0), UserError);
  EXPECT_THROW(ThreadPool(-3), UserError);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need the address space
TEST(ThreadPoolDeathTest, SaysSoWhenTheSystemRefusesAThread) {
  const auto starve = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * 4096 + (rlim_t{20} << 20);
    const rlimit address_space{limit, limit};
    setrlimit(RLIMIT_AS, &address_space);
    try {
      ThreadPool pool(1000);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(starve(), testing::ExitedWithCode(3), "refused thread .* of 1000.*run.threads");
}
#endif

}  // namespace
}  // namespace moiety

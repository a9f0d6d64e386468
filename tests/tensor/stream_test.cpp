// SPDX-License-Identifier: Apache-2.0
#include "tensor/stream.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "tensor/device.h"

namespace moiety {
namespace {

using Ranges = std::set<std::pair<std::int64_t, std::int64_t>>;

Ranges ranges_of(int threads, std::int64_t n, std::int64_t grain) {
  const auto device = make_cpu_device(threads);
  std::mutex mutex;
  Ranges ranges;
  parallel_for(device->stream(), n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(ranges.emplace(begin, end).second);
  });
  return ranges;
}

TEST(ParallelFor, ChunksCoverTheRangeAndDependOnSizeAlone) {
  for (std::int64_t n : {0, 1, 31, 32, 33, 1000}) {
    const Ranges ranges = ranges_of(1, n, 32);
    std::int64_t at = 0;
    for (const auto& [begin, end] : ranges) {
      EXPECT_EQ(begin, at);
      EXPECT_TRUE(end - begin == 32 || end == n);
      at = end;
    }
    EXPECT_EQ(at, n);
    for (int threads : {2, 3, 4}) EXPECT_EQ(ranges_of(threads, n, 32), ranges);
  }
}

TEST(ParallelFor, RefusesAGrainOfZero) { EXPECT_THROW(ranges_of(1, 10, 0), Error); }

void add_one(const Stream&, int& value) { value += 1; }
void add_two(const Stream&, int& value) { value += 2; }

TEST(RunOn, TakesTheBodyOfTheStreamsDevice) {
  const auto cpu = make_cpu_device(1);
  const Stream elsewhere(*cpu, nullptr, nullptr);  // no pool: counts as CUDA
  int value = 0;
  run_on<add_one, add_two>(cpu->stream(), value);
  EXPECT_EQ(value, 1);
  if (kHasCuda) {
    run_on<add_one, add_two>(elsewhere, value);
    EXPECT_EQ(value, 3);
  } else {
    EXPECT_THROW((run_on<add_one, add_two>(elsewhere, value)), CudaError);
  }
  EXPECT_THROW(run_on<add_one>(elsewhere, value), CudaError);
}

}  // namespace
}  // namespace moiety

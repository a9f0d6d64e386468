// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

constexpr int kCount = 400;

/// A mistake and what must be said of it.
struct Case {
  const char* name;
  Fault fault;
  bool needs_check_build;
  std::vector<std::string> words;
  bool ends_address_sanitizer = false;
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      // In the order of threads the first to read finds nothing there yet.
      {"missing_barrier",
       Fault::missing_barrier,
       true,
       {"uninitialised: read of 4 bytes, from byte 128 of shared array tile (256 bytes)",
        "thread (0,0,0) of block (0,0,0) at faulty_kernels.cpp:"}},
      {"missing_barrier_before_reuse",
       Fault::missing_barrier_before_reuse,
       true,
       {"race on byte", "of shared array tile (256 bytes)", "no synchronisation after the write by",
        "at faulty_kernels.cpp:", "before the read"}},
      {"missing_warp_sync", Fault::missing_warp_sync, true, {"shared array tile"}},
      {"shared_overrun",
       Fault::shared_overrun,
       true,
       {"out of bounds: read of 4 bytes", "0 bytes after the end of shared array tile (32 bytes)"},
       true},
      {"uninitialised_shared",
       Fault::uninitialised_shared,
       true,
       {"uninitialised: read of 4 bytes", "byte 0 of shared array tile"}},
      {"divergent_barrier",
       Fault::divergent_barrier,
       false,
       {"divergent block", "waits in __syncthreads", "faulty_kernels.cpp:"}},
      {"divergent_shuffle",
       Fault::divergent_shuffle,
       false,
       {"divergent warp", "__shfl_xor_sync", "faulty_kernels.cpp:"}},
      {"wrong_mask", Fault::wrong_mask, false, {"mask lacks the calling lane"}},
      {"shuffle_from_outside", Fault::shuffle_from_outside, false, {"takes no part"}},
      {"deadlock",
       Fault::deadlock,
       false,
       {"deadlock in block (0,0,0)", "threads 5 to 5 have exited", "wait in __syncwarp",
        "threads 32 to 63 wait in __syncthreads", "faulty_kernels.cpp:"}},
      {"named_barrier_short",
       Fault::named_barrier_short,
       false,
       {"deadlock", "threads 0 to 31 wait in barrier_sync", "threads 32 to 63 have exited"}},
      {"livelock", Fault::livelock, false, {"livelock"}},
      {"missing_copy_wait", Fault::missing_copy_wait, true, {"shared array stage"}},
      {"misaligned_copy", Fault::misaligned_copy, false, {"cp.async", "aligned to 16"}},
      {"misaligned_load", Fault::misaligned_load, true, {"misaligned"}, true},
      {"trap", Fault::trap, false, {"__trap", "thread (9,0,0)"}},
      {"global_overrun",
       Fault::global_overrun,
       true,
       {"out of bounds", "0 bytes after the end of cudaMalloc", "(1600 bytes)"},
       true},
      {"global_underrun", Fault::global_underrun, true, {"out of bounds"}},
      {"race_between_blocks",
       Fault::race_between_blocks,
       true,
       {"race on byte 0", "block (0,0,0)", "block (1,0,0)"}},
      {"atomic_against_plain", Fault::atomic_against_plain, true, {"race", "atomic"}},
  };
  return all;
}

class FaultTest : public testing::TestWithParam<Case> {
 protected:
  FaultTest() {
    simt::settings() = {};
    std::vector<float> values(kCount);
    std::iota(values.begin(), values.end(), 0.0f);
    data_.set(values);
  }
  cudaError_t commit() { return commit_fault(GetParam().fault, data_.data(), kCount); }

  SettingsGuard guard_;
  DeviceArray<float> data_{kCount};
};
INSTANTIATE_TEST_SUITE_P(Faults, FaultTest, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(FaultTest, IsNamed) {
  const Case& one = GetParam();
  if (kAddressSanitizer && one.ends_address_sanitizer) {
    EXPECT_DEATH(commit(), "AddressSanitizer|runtime error");
    return;
  }
  if (one.needs_check_build && !simt::checks_memory()) GTEST_SKIP() << "seen by the check build";
  if (one.fault == Fault::livelock) data_.set(std::vector<float>(kCount, 0.0f));
  const std::uint64_t before = simt::counters().violations;
  ASSERT_EQ(commit(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(simt::counters().violations, before + 1);
  for (const std::string& word : one.words) {
    EXPECT_NE(violation().find(word), std::string::npos) << word << " in: " << violation();
  }
  RecordProperty("violation", violation());
}

// A launch that was given up must not disturb the next.
TEST_P(FaultTest, LeavesNothingBehind) {
  const Case& one = GetParam();
  if ((one.needs_check_build && !simt::checks_memory()) || one.fault == Fault::livelock) {
    GTEST_SKIP();
  }
  EXPECT_EQ(commit(), cudaErrorLaunchFailure);
  cudaGetLastError();
  EXPECT_EQ(commit_no_fault(data_.data(), kCount), cudaSuccess) << violation();
}

class NoFaultTest : public testing::TestWithParam<simt::Settings> {};
INSTANTIATE_TEST_SUITE_P(Orders, NoFaultTest, testing::ValuesIn(all_orders()));

TEST_P(NoFaultTest, IsNotBlamed) {
  const SettingsGuard guard;
  simt::settings() = GetParam();
  const DeviceArray<float> data(std::vector<float>(kCount, 1.0f));
  EXPECT_EQ(commit_no_fault(data.data(), kCount), cudaSuccess) << violation();
}

TEST(Fault, OfOneThreadIsNotSeenByAnother) {
  const DeviceArray<float> data(std::vector<float>(kCount, 1.0f));
  ASSERT_EQ(commit_fault(Fault::trap, data.data(), kCount), cudaErrorLaunchFailure);
  cudaGetLastError();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
}

}  // namespace
}  // namespace simt_test

// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <thread>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Device, HasTheLimitsOfAGpu) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.warpSize, 32);
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
            cudaSuccess);
  EXPECT_EQ(value, 227 * 1024);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(Memory, RunsOutAtItsSize) {
  const SettingsGuard guard;
  std::size_t free_before = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  const std::size_t used = total - free_before;
  simt::settings().memory_bytes = used + 10 * kMiB;
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 6 * kMiB), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 6 * kMiB), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  std::size_t free = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 4 * kMiB);
  EXPECT_EQ(total, used + 10 * kMiB);
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 10 * kMiB), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(Memory, KnowsItsPointers) {
  const DeviceArray<int> device(8);
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable), cudaSuccess);
  int local = 0;
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device.data() + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(pinned) + 99), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Memory, CopiesAndFills) {
  const std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8};
  const DeviceArray<int> a(values);
  const DeviceArray<int> b(8);
  ASSERT_EQ(cudaMemcpyAsync(b.data(), a.data(), 32, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(b.get(), values);
  ASSERT_EQ(cudaMemsetAsync(b.data() + 1, 0, 4), cudaSuccess);
  EXPECT_EQ(b.get(), (std::vector<int>{1, 0, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cudaMemcpyAsync(b.data(), a.data(), 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(b.data(), a.data(), 36, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(a.data() + 1, a.data(), 8, cudaMemcpyDefault), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("overlap"), std::string::npos) << violation();
  cudaGetLastError();
}

TEST(Memory, IsFilledWithNaNs) {
  const DeviceArray<float> fresh(100);
  for (const float value : fresh.get()) EXPECT_TRUE(std::isnan(value));
}

/// A slab that is cut into blocks as an allocator does.
class SlabTest : public testing::Test {
 protected:
  SlabTest() {
    EXPECT_EQ(cudaMalloc(&slab_, 4 * kMiB), cudaSuccess);
    first_ = static_cast<float*>(slab_);
    second_ = first_ + 64;
    simt::note_block(first_, 40 * sizeof(float));
    simt::note_block(second_, 50 * sizeof(float));
  }
  ~SlabTest() override {
    cudaGetLastError();
    cudaFree(slab_);
  }

  SettingsGuard guard_;
  void* slab_ = nullptr;
  float* first_ = nullptr;
  float* second_ = nullptr;
};

TEST_F(SlabTest, BlocksAreUndefinedWhenHandedOut) {
  std::vector<float> values(40);
  ASSERT_EQ(cudaMemcpyAsync(values.data(), first_, 160, cudaMemcpyDefault), cudaSuccess);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
  if (!simt::checks_memory()) return;
  EXPECT_EQ(commit_fault(Fault::read_all, first_, 40), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("uninitialised: read of 4 bytes, from byte 0 of block"),
            std::string::npos)
      << violation();
  ASSERT_EQ(cudaMemsetAsync(first_, 0, 160), cudaSuccess);
  EXPECT_EQ(commit_fault(Fault::read_all, first_, 40), cudaSuccess) << violation();
  simt::forget_block(first_);
  simt::note_block(first_, 160);
  EXPECT_EQ(commit_fault(Fault::read_all, first_, 40), cudaErrorLaunchFailure);
}

TEST_F(SlabTest, CopiesStayInsideABlock) {
  EXPECT_EQ(cudaMemsetAsync(first_, 0, 160), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(second_ + 10, 0, 160), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(first_, 0, 161), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("out of bounds"), std::string::npos) << violation();
  simt::forget_block(first_);
  EXPECT_EQ(cudaMemsetAsync(first_, 0, 160), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaMemsetAsync(second_, 0, 200), cudaSuccess);
}

TEST_F(SlabTest, KernelsStayInsideTheirBlocks) {
  ASSERT_EQ(cudaMemsetAsync(first_, 0, 160), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(second_, 0, 200), cudaSuccess);
  EXPECT_EQ(commit_fault(Fault::read_all, first_, 40), cudaSuccess) << violation();
  if (kAddressSanitizer) {
    EXPECT_DEATH(commit_fault(Fault::global_overrun, first_, 40), "AddressSanitizer");
    EXPECT_DEATH(commit_fault(Fault::global_underrun, second_, 50), "AddressSanitizer");
  }
  if (!simt::checks_memory()) return;
  EXPECT_EQ(commit_fault(Fault::global_overrun, first_, 40), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("0 bytes after the end of block"), std::string::npos) << violation();
  EXPECT_NE(violation().find("(160 bytes)"), std::string::npos) << violation();
  EXPECT_NE(violation().find("faulty_kernels.cpp:"), std::string::npos) << violation();
  EXPECT_EQ(commit_fault(Fault::global_underrun, second_, 50), cudaErrorLaunchFailure);
  simt::forget_block(second_);
  EXPECT_EQ(commit_fault(Fault::read_all, second_, 50), cudaErrorLaunchFailure);
}

TEST_F(SlabTest, OtherPointersAreIgnored) {
  int local = 5;
  simt::note_block(&local, sizeof(local));
  simt::forget_block(&local);
  simt::forget_block(first_ + 1);
  EXPECT_EQ(local, 5);
  EXPECT_EQ(cudaMemsetAsync(first_, 0, 160), cudaSuccess);
}

TEST(Memory, OfTheHostIsNotTheGpus) {
  if (!simt::checks_memory()) GTEST_SKIP() << "seen by the check build";
  std::vector<float> host(40, 1.0f);
  EXPECT_EQ(commit_fault(Fault::read_all, host.data(), 40), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("not device memory"), std::string::npos) << violation();
  cudaGetLastError();
}

TEST(Shared, IsExactAndAlignedWithinLimits) {
  const DeviceArray<unsigned> out(4);
  for (const std::size_t bytes : {0u, 1u, 1000u, 40000u}) {
    ASSERT_EQ(inspect_shared(bytes, out.data()), cudaSuccess) << violation();
    const unsigned last = bytes == 0 ? 0 : static_cast<unsigned char>(bytes - 1);
    EXPECT_EQ(out.get(), (std::vector<unsigned>{20, 0, 0, last}));
  }
  EXPECT_EQ(inspect_shared(100000, out.data()), cudaErrorInvalidValue);
  EXPECT_EQ(allow_shared(228 * 1024), cudaErrorInvalidValue);
  ASSERT_EQ(allow_shared(227 * 1024), cudaSuccess);
  EXPECT_EQ(inspect_shared(100000, out.data()), cudaSuccess) << violation();
  // The kernel's own arrays count as well.
  EXPECT_EQ(inspect_shared(227 * 1024, out.data()), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("too much shared memory"), std::string::npos) << violation();
  ASSERT_EQ(allow_shared(48 * 1024), cudaSuccess);
  cudaGetLastError();
}

TEST(Launch, HasTheLimitsOfAGpu) {
  const DeviceArray<int> out(1);
  const DeviceArray<int> visits(std::vector<int>{0});
  const auto try_sizes = [&](dim3 grid, dim3 block) {
    return fill_indices(grid, block, out.data(), visits.data());
  };
  EXPECT_EQ(try_sizes(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_sizes(1, dim3(32, 33)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_sizes(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_sizes(dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_sizes(0, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_sizes(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(visits.get()[0], 0);
}

TEST(Launch, WorksFromSeveralHostThreads) {
  const DeviceArray<float> a(std::vector<float>(256, 1.0f));
  const DeviceArray<float> b(std::vector<float>(256, 2.0f));
  const auto work = [](float* data) {
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(reverse_blocks(1, 256, 1, data), cudaSuccess) << violation();
    }
  };
  std::thread other(work, a.data());
  work(b.data());
  other.join();
  EXPECT_EQ(a.get(), std::vector<float>(256, 1.0f));
}

}  // namespace
}  // namespace simt_test

// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "tensor/cuda/check.h"
#include "tensor/cuda/event.h"
#include "tensor/cuda/native.h"
#include "tensor/cuda/pinned_buffer.h"
#include "tensor/cuda/properties.h"
#include "tensor/tensor.h"

namespace moiety {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CudaStatus, CountsGpusOrSaysWhyThereIsNone) {
  const CudaStatus status = cuda_status();
  if (status.count > 0) {
    EXPECT_EQ(status.reason, "");
    return;
  }
  EXPECT_NE(status.reason, "");
  EXPECT_NE(message_of([] { make_cuda_device(0); }).find(status.reason), std::string::npos);
  EXPECT_NE(message_of([] { make_device("cuda"); }).find("run.device"), std::string::npos);
}

TEST(CudaStatus, NumbersOutOfRangeAreErrors) {
  EXPECT_THROW(make_cuda_device(cuda_status().count), CudaError);
  EXPECT_THROW(make_cuda_device(-1), CudaError);
}

TEST(CudaCheck, NamesThePlaceAndTheFailure) {
  EXPECT_NO_THROW(cuda_check(cudaSuccess));
  const std::string message = message_of([] { cuda_check(cudaErrorInvalidValue); });
  EXPECT_NE(message.find("cuda_device_test.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("cudaErrorInvalidValue (1): invalid argument"), std::string::npos);
}

TEST(CudaNative, RefusesACpuStream) {
  const auto cpu = make_cpu_device(1);
  EXPECT_THROW(native(cpu->stream()), CudaError);
  EXPECT_THROW(PinnedBuffer(*cpu, 64), CudaError);
}

/// Runs once for each GPU of the machine; on a machine without one there is nothing to run.
class CudaDeviceTest : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<Device> gpu_ = make_cuda_device(GetParam());
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  const Stream& compute_ = gpu_->stream(StreamRole::compute);
  const Stream& copy_ = gpu_->stream(StreamRole::copy);
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaDeviceTest);
INSTANTIATE_TEST_SUITE_P(Gpus, CudaDeviceTest, testing::Range(0, cuda_status().count));

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_P(CudaDeviceTest, HasThreeStreamsAndAName) {
  EXPECT_EQ(gpu_->name(), "cuda:" + std::to_string(GetParam()));
  EXPECT_NE(native(compute_), native(copy_));
  EXPECT_NE(native(compute_), native(gpu_->stream(StreamRole::communication)));
  EXPECT_EQ(&compute_.device(), gpu_.get());
}

TEST_P(CudaDeviceTest, TensorsGoThereAndBack) {
  for (std::size_t count : {0u, 1u, 33u, 1000u, 5000000u}) {
    const std::vector<float> values = numbers(count);
    const Shape shape{static_cast<std::int64_t>(count)};
    const Tensor there = Tensor::from(values, shape, *gpu_);
    EXPECT_TRUE(there.to_vector<float>() == values) << count;
    EXPECT_TRUE(there.clone().to(*cpu_).to_vector<float>() == values) << count;
    EXPECT_TRUE(Tensor::from(values, shape, *cpu_).to(*gpu_).to_vector<float>() == values);
    there.fill_zero();
    EXPECT_TRUE(there.to_vector<float>() == std::vector<float>(count, 0.0f)) << count;
  }
}

TEST_P(CudaDeviceTest, OverlappingCopiesAreExact) {
  const Tensor x = Tensor::from(numbers(100000), {100000}, *gpu_);
  x.slice(0, 1, 100000).copy_from(x.slice(0, 0, 99999));
  std::vector<float> expected = numbers(99999);
  expected.insert(expected.begin(), 1.0f);
  EXPECT_TRUE(x.to_vector<float>() == expected);
}

TEST_P(CudaDeviceTest, WorksFromAnyThread) {
  std::thread([&] {
    EXPECT_EQ(Tensor::from(numbers(10), {10}, *gpu_).to_vector<float>(), numbers(10));
  }).join();
}

// Pinned memory goes up on the copy stream while the block belongs to the compute stream.
TEST_P(CudaDeviceTest, StreamsWaitForEachOther) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  PinnedBuffer up(*gpu_, kBytes);
  PinnedBuffer down(*gpu_, kBytes);
  for (int round = 0; round < 50; ++round) {
    std::memset(up.data(), round, kBytes);
    const Tensor block = Tensor::zeros({kBytes}, DType::u8, *gpu_);
    gpu_->wait(copy_, compute_);
    gpu_->copy_bytes(block.raw_data(), up.data(), kBytes, copy_);
    gpu_->wait(compute_, copy_);
    gpu_->copy_bytes(down.data(), block.raw_data(), kBytes, compute_);
    gpu_->synchronize(compute_);
    ASSERT_EQ(std::memcmp(up.data(), down.data(), kBytes), 0) << round;
  }
}

TEST_P(CudaDeviceTest, IsDescribed) {
  const CudaProperties found = cuda_properties(*gpu_);
  EXPECT_FALSE(found.name.empty());
  EXPECT_GE(found.major, 7);
  EXPECT_GT(found.multiprocessors, 0);
  EXPECT_GT(found.cache_bytes, 0u);
  EXPECT_GT(found.memory_bytes, found.cache_bytes);
  EXPECT_GE(found.driver_version, CUDART_VERSION / 1000 * 1000);
  EXPECT_THROW(cuda_properties(*cpu_), CudaError);
}

TEST_P(CudaDeviceTest, EventsPass) {
  const auto event = gpu_->make_event();
  EXPECT_TRUE(event->passed());
  event->record(compute_);
  event->hold(copy_);
  event->synchronize();
  EXPECT_TRUE(event->passed());
}

TEST_P(CudaDeviceTest, TimesAreOrderedAsTheEventsAre) {
  CudaEvent first(*gpu_, EventTime::kept);
  CudaEvent second(*gpu_, EventTime::kept);
  CudaEvent third(*gpu_, EventTime::kept);
  EXPECT_THROW(second.seconds_since(first), CudaError);  // not recorded
  const Tensor x = Tensor::zeros({1 << 20}, DType::f32, *gpu_);
  first.record(compute_);
  x.fill_zero();
  second.record(compute_);
  x.fill_zero();
  third.record(compute_);
  const double all = third.seconds_since(first);
  EXPECT_GT(all, 0);
  EXPECT_GE(second.seconds_since(first), 0);
  EXPECT_GE(all, second.seconds_since(first));
  CudaEvent timeless(*gpu_);
  timeless.record(compute_);
  EXPECT_THROW(timeless.seconds_since(first), CudaError);
}

TEST_P(CudaDeviceTest, MemoryIsCachedAndItsEndIsAnError) {
  for (int round = 0; round < 10; ++round) Tensor::zeros({1 << 20}, DType::f32, *gpu_);
  EXPECT_EQ(gpu_->allocator().stats().system_calls, 1u);
  const Tensor held = Tensor::zeros({4}, DType::f32, *gpu_);
  const std::string message = message_of([&] { gpu_->allocator().allocate(std::size_t{1} << 46); });
  EXPECT_NE(message.find("out of memory on " + gpu_->name()), std::string::npos) << message;
  EXPECT_NE(message.find("this process holds 32 MiB, "), std::string::npos) << message;
  EXPECT_NE(message.find(" MiB are free"), std::string::npos) << message;
  EXPECT_THROW(cuda_check(cudaErrorMemoryAllocation), MemoryError);
  const DeviceMemory memory = gpu_->memory();
  EXPECT_LE(memory.free, memory.total - (std::size_t{32} << 20));
  EXPECT_EQ(Tensor::zeros({4}, DType::f32, *gpu_).to_vector<float>(), std::vector<float>(4, 0.0f));
}

TEST(PinnedBuffer, MovesItsMemory) {
  for (int index = 0; index < cuda_status().count; ++index) {
    const auto gpu = make_cuda_device(index);
    PinnedBuffer a(*gpu, 100);
    std::byte* data = a.data();
    PinnedBuffer b(std::move(a));
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(b.bytes(), 100u);
    PinnedBuffer c(*gpu, 0);
    c = std::move(b);
    EXPECT_EQ(c.data(), data);
  }
}

}  // namespace
}  // namespace moiety

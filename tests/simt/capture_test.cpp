// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/kernels.h"
#include "support.h"

namespace simt_test {
namespace {

/// Two streams, events, and data to reverse.
class CaptureTest : public testing::Test {
 protected:
  CaptureTest() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&join_, cudaEventDisableTiming), cudaSuccess);
  }
  ~CaptureTest() override {
    cudaGraph_t graph = nullptr;
    if (status() != cudaStreamCaptureStatusNone) cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaEventDestroy(fork_);
    cudaEventDestroy(join_);
    cudaStreamDestroy(other_);
    cudaStreamDestroy(stream_);
    cudaGetLastError();
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }
  cudaStreamCaptureStatus status() {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
    return status;
  }
  cudaError_t end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
    if (status == cudaSuccess) {
      EXPECT_EQ(cudaGraphInstantiate(&executable_, graph), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    } else {
      EXPECT_EQ(graph, nullptr);
    }
    return status;
  }
  cudaError_t reverse(cudaStream_t stream) { return reverse_blocks(1, 4, 1, data_.data(), stream); }
  std::vector<float> replay() {
    EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaSuccess) << violation();
    return data_.get();
  }

  const std::vector<float> values_{1, 2, 3, 4};
  const std::vector<float> reversed_{4, 3, 2, 1};
  DeviceArray<float> data_{values_};
  cudaStream_t stream_ = nullptr;
  cudaStream_t other_ = nullptr;
  cudaEvent_t fork_ = nullptr;
  cudaEvent_t join_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

TEST_F(CaptureTest, RecordsAndReplays) {
  const DeviceArray<float> copy(4);
  begin();
  EXPECT_EQ(status(), cudaStreamCaptureStatusActive);
  ASSERT_EQ(reverse(stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(copy.data(), data_.data(), 16, cudaMemcpyDefault, stream_),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(data_.data(), 0, 4, stream_), cudaSuccess);
  EXPECT_EQ(data_.get(), values_);  // nothing has run
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(status(), cudaStreamCaptureStatusNone);
  EXPECT_EQ(data_.get(), values_);
  EXPECT_EQ(replay(), (std::vector<float>{0, 3, 2, 1}));
  EXPECT_EQ(copy.get(), reversed_);
  EXPECT_EQ(replay(), (std::vector<float>{0, 2, 3, 0}));
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
  // The stream works at once again.
  ASSERT_EQ(reverse(stream_), cudaSuccess);
  EXPECT_EQ(data_.get(), (std::vector<float>{0, 3, 2, 0}));
}

TEST_F(CaptureTest, StreamsJoinThroughEvents) {
  begin();
  ASSERT_EQ(reverse(stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_), cudaSuccess);
  ASSERT_EQ(reverse(other_), cudaSuccess);
  ASSERT_EQ(reverse(other_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join_), cudaSuccess);
  EXPECT_EQ(data_.get(), values_);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(replay(), reversed_);
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
  cudaStreamCaptureStatus other = cudaStreamCaptureStatusActive;
  EXPECT_EQ(cudaStreamIsCapturing(other_, &other), cudaSuccess);
  EXPECT_EQ(other, cudaStreamCaptureStatusNone);
}

TEST_F(CaptureTest, UnjoinedWorkIsAnError) {
  begin();
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_), cudaSuccess);
  ASSERT_EQ(reverse(other_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  ASSERT_EQ(reverse(other_), cudaSuccess);  // after the event that is waited for
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join_), cudaSuccess);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
}

TEST_F(CaptureTest, IllegalCallsInvalidate) {
  void* memory = nullptr;
  float host = 0;
  const std::vector<std::pair<std::function<cudaError_t()>, cudaError_t>> calls{
      {[&] { return cudaMalloc(&memory, 16); }, cudaErrorStreamCaptureUnsupported},
      {[&] { return cudaFree(data_.data()); }, cudaErrorStreamCaptureUnsupported},
      {[&] { return cudaHostAlloc(&memory, 16, 0); }, cudaErrorStreamCaptureUnsupported},
      {[&] { return cudaStreamSynchronize(stream_); }, cudaErrorStreamCaptureUnsupported},
      {[&] { return cudaStreamQuery(stream_); }, cudaErrorStreamCaptureUnsupported},
      {[&] { return cudaMemcpyAsync(data_.data(), &host, 4, cudaMemcpyDefault, stream_); },
       cudaErrorStreamCaptureUnsupported},
      {[&] {
         EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
         return cudaEventQuery(fork_);
       },
       cudaErrorCapturedEvent},
      {[&] { return cudaStreamWaitEvent(stream_, join_); }, cudaErrorStreamCaptureIsolation},
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    begin();
    EXPECT_EQ(calls[i].first(), calls[i].second) << i;
    EXPECT_EQ(status(), cudaStreamCaptureStatusInvalidated) << i;
    EXPECT_EQ(reverse(stream_), cudaErrorStreamCaptureInvalidated) << i;
    EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated) << i;
    EXPECT_EQ(status(), cudaStreamCaptureStatusNone) << i;
  }
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(data_.get(), values_);
}

TEST_F(CaptureTest, RelaxedModeLetsMemoryBeAllocated) {
  begin(cudaStreamCaptureModeRelaxed);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
  EXPECT_EQ(status(), cudaStreamCaptureStatusActive);
}

TEST_F(CaptureTest, PinnedMemoryIsReadAtTheReplay) {
  void* memory = nullptr;
  ASSERT_EQ(cudaHostAlloc(&memory, 16, cudaHostAllocDefault), cudaSuccess);
  auto* const pinned = static_cast<float*>(memory);
  begin();
  ASSERT_EQ(cudaMemcpyAsync(data_.data(), pinned, 16, cudaMemcpyDefault, stream_), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  for (const float first : {5.0f, 9.0f}) {
    std::iota(pinned, pinned + 4, first);
    EXPECT_EQ(replay(), std::vector<float>(pinned, pinned + 4));
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(CaptureTest, ReplaysReportViolations) {
  begin();
  ASSERT_EQ(commit_fault(Fault::trap, data_.data(), 4, stream_), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaErrorLaunchFailure);
  EXPECT_NE(violation().find("__trap"), std::string::npos);
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
}

// What an allocator hands out and takes back in a capture is used again by every replay.
TEST_F(CaptureTest, BlocksComeBackForTheReplay) {
  void* slab = nullptr;
  ASSERT_EQ(cudaMalloc(&slab, 1 << 21), cudaSuccess);
  auto* const block = static_cast<float*>(slab) + 64;
  begin();
  simt::note_block(block, 16);
  ASSERT_EQ(cudaMemcpyAsync(block, data_.data(), 16, cudaMemcpyDefault, stream_), cudaSuccess);
  ASSERT_EQ(reverse_blocks(1, 4, 1, block, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(data_.data(), block, 16, cudaMemcpyDefault, stream_), cudaSuccess);
  simt::forget_block(block);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(replay(), reversed_);
  EXPECT_EQ(replay(), values_);
  EXPECT_EQ(cudaMemsetAsync(block, 0, 16), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
  EXPECT_EQ(cudaFree(slab), cudaSuccess);
}

TEST(Stream, RefusesWhatIsNone) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamDefault), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  // The default stream would wait for this one.
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed),
            cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
}

}  // namespace
}  // namespace simt_test

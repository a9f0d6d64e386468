// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace simt {

/// What a stream does in one call: a kernel, a copy, a fill.
using Work = std::function<cudaError_t()>;
/// How much of each stream's work, in a capture, comes before a point.
using Progress = std::map<cudaStream_t, std::size_t>;

struct Capture {
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  bool invalid = false;
  std::vector<Work> work;
  std::map<cudaStream_t, Progress> streams;  // those that take part
};

}  // namespace simt

struct CUstream_st {
  bool waits_for_default = true;
  std::shared_ptr<simt::Capture> capture;
};

struct CUevent_st {
  bool timed = true;
  std::shared_ptr<simt::Capture> capture;  // in which it was last recorded
  simt::Progress progress;
  std::optional<std::chrono::steady_clock::time_point> time;  // of the record, outside captures
};

struct CUgraph_st {
  std::vector<simt::Work> work;
};

struct CUgraphExec_st {
  std::vector<simt::Work> work;
};

namespace simt {

/// Does the work now, or adds it to the graph that the stream captures.
cudaError_t enqueue(cudaStream_t stream, Work work);
bool is_capturing(cudaStream_t stream);
/// Fails, and invalidates the captures that it disturbs, where the calling thread may not make a
/// call that waits for the GPU or changes its memory.
cudaError_t check_allowed_in_capture();
/// Fails a call that a capturing stream cannot take.
cudaError_t refuse_in_capture(cudaStream_t stream);
/// The capture that the calling thread began, or null.
Capture* capture_of_this_thread();

/// Remembers the status for cudaGetLastError().
cudaError_t finish(cudaError_t status);
/// cudaErrorLaunchFailure with this text, or success for "".
cudaError_t status_of(std::string violation);

}  // namespace simt

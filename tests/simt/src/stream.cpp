// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "memory.h"
#include "scheduler.h"

namespace simt {
namespace {

std::set<cudaStream_t>& live_streams() {
  static std::set<cudaStream_t> streams;
  return streams;
}

std::vector<std::shared_ptr<Capture>>& captures() {
  static std::vector<std::shared_ptr<Capture>> captures;
  return captures;
}

bool is_live(cudaStream_t stream) { return live_streams().contains(stream); }

/// Work on the default stream would make it depend on the streams that wait for it.
cudaError_t check_default_stream() {
  cudaError_t status = cudaSuccess;
  for (const auto& capture : captures()) {
    for (const auto& [stream, progress] : capture->streams) {
      if (!stream->waits_for_default) continue;
      capture->invalid = true;
      status = cudaErrorStreamCaptureImplicit;
    }
  }
  return status;
}

cudaError_t run_all(const std::vector<Work>& all) {
  for (const Work& work : all) {
    if (const cudaError_t status = work(); status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (stream != nullptr && !is_live(stream)) return cudaErrorInvalidResourceHandle;
  event->capture = stream == nullptr ? nullptr : stream->capture;
  event->time.reset();
  if (event->capture == nullptr) {
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
  }
  if (event->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  event->progress = event->capture->streams[stream];
  return cudaSuccess;
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event) {
  if (stream != nullptr && !is_live(stream)) return cudaErrorInvalidResourceHandle;
  const auto own = stream == nullptr ? nullptr : stream->capture;
  const bool event_captures =
      std::find(captures().begin(), captures().end(), event->capture) != captures().end();
  if (own == nullptr && !event_captures) return cudaSuccess;  // what it waits for is done
  if (stream == nullptr) return cudaErrorStreamCaptureImplicit;
  if (own != nullptr && own != event->capture) {
    own->invalid = true;
    return event_captures ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation;
  }
  if (event->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  stream->capture = event->capture;
  Progress& progress = event->capture->streams[stream];
  for (const auto& [other, count] : event->progress) {
    progress[other] = std::max(progress[other], count);
  }
  return cudaSuccess;
}

/// Whether the origin has waited for all work of the streams that joined.
bool is_joined(const Capture& capture) {
  const Progress& origin = capture.streams.at(capture.origin);
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto& each) {
    const auto& [stream, progress] = each;
    const auto done = progress.find(stream);
    if (done == progress.end()) return true;
    const auto seen = origin.find(stream);
    return seen != origin.end() && seen->second >= done->second;
  });
}

void leave_capture(const std::shared_ptr<Capture>& capture) {
  for (const auto& [member, progress] : capture->streams) member->capture = nullptr;
  std::erase(captures(), capture);
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!is_live(stream)) return cudaErrorInvalidResourceHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != stream) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  leave_capture(capture);
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!is_joined(*capture)) return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st{std::move(capture->work)};
  return cudaSuccess;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, Work work) {
  if (stream == nullptr) {
    const cudaError_t status = check_default_stream();
    return status == cudaSuccess ? work() : status;
  }
  if (!is_live(stream)) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return work();
  if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  stream->capture->work.push_back(std::move(work));
  ++stream->capture->streams[stream][stream];
  return cudaSuccess;
}

bool is_capturing(cudaStream_t stream) { return is_live(stream) && stream->capture != nullptr; }

cudaError_t check_allowed_in_capture() {
  cudaError_t status = cudaSuccess;
  for (const auto& capture : captures()) {
    const bool own = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && !own) continue;
    capture->invalid = true;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

cudaError_t refuse_in_capture(cudaStream_t stream) {
  if (stream == nullptr) return check_default_stream();
  if (!is_live(stream)) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return cudaSuccess;
  stream->capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

Capture* capture_of_this_thread() {
  for (const auto& capture : captures()) {
    if (capture->thread == std::this_thread::get_id() && !capture->invalid) return capture.get();
  }
  return nullptr;
}

}  // namespace simt

using simt::finish;
using simt::runtime_mutex;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::lock_guard lock(runtime_mutex());
  if (flags > cudaStreamNonBlocking) return finish(cudaErrorInvalidValue);
  *stream = new CUstream_st{flags != cudaStreamNonBlocking, nullptr};
  simt::live_streams().insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  if (simt::live_streams().erase(stream) == 0) return finish(cudaErrorInvalidResourceHandle);
  if (const auto capture = stream->capture) {
    capture->invalid = true;
    if (capture->origin == stream) simt::leave_capture(capture);
    capture->streams.erase(stream);
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  return finish(simt::refuse_in_capture(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  return finish(simt::refuse_in_capture(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  const std::lock_guard lock(runtime_mutex());
  if (event == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  return finish(simt::wait(stream, event));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  if (event == nullptr) return finish(cudaErrorInvalidResourceHandle);
  return finish(simt::record(event, stream));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(runtime_mutex());
  if (event == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (event->capture == nullptr) return finish(simt::check_allowed_in_capture());
  event->capture->invalid = true;
  return finish(cudaErrorCapturedEvent);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  const std::lock_guard lock(runtime_mutex());
  for (const cudaEvent_t event : {start, stop}) {
    if (event == nullptr || !event->timed || !event->time) {
      return finish(cudaErrorInvalidResourceHandle);
    }
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*stop->time - *start->time).count();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return finish(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(runtime_mutex());
  if (stream == nullptr) return finish(cudaErrorStreamCaptureUnsupported);
  if (!simt::is_live(stream)) return finish(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) return finish(cudaErrorIllegalState);
  stream->capture = std::make_shared<simt::Capture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->streams[stream];
  simt::captures().push_back(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(runtime_mutex());
  return finish(simt::end_capture(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(runtime_mutex());
  *status = cudaStreamCaptureStatusNone;
  if (stream == nullptr) return finish(simt::check_default_stream());
  if (!simt::is_live(stream)) return finish(cudaErrorInvalidResourceHandle);
  if (stream->capture == nullptr) return cudaSuccess;
  *status =
      stream->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  return finish(simt::enqueue(stream, [work = executable->work] { return simt::run_all(work); }));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "tensor/stream.h"

namespace moiety {

/// A point in the queue of a CUDA stream, without a time stamp. Before the first record() it counts
/// as passed.
class CudaEvent {
 public:
  /// An event for the streams of one GPU. Throws CudaError, as all members do.
  explicit CudaEvent(const Device& device);
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  /// Moves the point to the present end of the stream's queue.
  void record(const Stream& stream);
  /// Work queued on the stream from now on, of any GPU, starts after the point has passed.
  void hold(const Stream& stream) const;
  /// Whether the point has passed. Does not wait.
  bool passed() const;
  /// Returns when the point has passed.
  void synchronize() const;

 private:
  int device_index_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace moiety

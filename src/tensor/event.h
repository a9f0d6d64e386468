// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"

namespace moiety {

/// A point in the queue of a stream, made by Device::make_event(). Before the first record() it
/// counts as passed. Throws CudaError when CUDA fails.
class Event {
 public:
  Event() = default;
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Moves the point to the present end of the stream's queue.
  virtual void record(const Stream& stream) = 0;
  /// Work queued on the stream from now on, of any GPU, starts after the point has passed.
  virtual void hold(const Stream& stream) const = 0;
  /// Whether the point has passed. Does not wait.
  virtual bool passed() const = 0;
  /// Returns when the point has passed. Throws what a kernel found wrong with its input.
  virtual void synchronize() const = 0;
};

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tensor/device.h"

namespace moiety {

/// Page-locked host memory, which copies to and from every GPU without waiting: it must outlive the
/// copies queued on it, which the caller ensures with an event or a synchronised stream.
class PinnedBuffer {
 public:
  /// Allocated through the driver of `device`. Throws CudaError where the system refuses to lock so
  /// much.
  PinnedBuffer(const Device& device, std::size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  int device_index_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace moiety

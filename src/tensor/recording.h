// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace moiety {

/// Work that was queued on a device's compute stream once and can be queued again as a whole, made
/// by Device::record(): a CUDA graph. It reads and writes the memory that it did when it was
/// recorded.
class Recording {
 public:
  Recording() = default;
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Queues the work.
  virtual void replay() = 0;
};

}  // namespace moiety

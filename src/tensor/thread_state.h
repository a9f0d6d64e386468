// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace moiety {

/// What belongs to the calling thread: the only thread_local of the library.
struct ThreadState {
  bool grad_enabled = true;  ///< operations record their gradient rule
  int lane = 0;              ///< worker number inside a parallel region, 0 outside
  bool in_parallel = false;  ///< in one of a region's tasks, if by one thread: regions run inline
};

inline ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

/// Another lane of the allocators for the calling thread while it lives.
class LaneScope {
 public:
  explicit LaneScope(int lane) : before_(thread_state().lane) { thread_state().lane = lane; }
  ~LaneScope() { thread_state().lane = before_; }
  LaneScope(const LaneScope&) = delete;
  LaneScope& operator=(const LaneScope&) = delete;

 private:
  int before_;
};

/// Lanes of threads that are no workers; no pool is so large. The memory of recorded work is its
/// own: each replay uses it again.
inline constexpr int kRecordingLane = 62;
inline constexpr int kReaderLane = 63;

}  // namespace moiety

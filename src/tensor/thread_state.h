// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace moiety {

/// What belongs to the calling thread: the only thread_local of the library.
struct ThreadState {
  bool grad_enabled = true;  ///< operations record their gradient rule
  int lane = 0;              ///< worker number inside a parallel region, 0 outside
  bool in_parallel = false;  ///< nested parallel regions run inline
};

inline ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/thread_state.h"

namespace moiety::autograd {

inline bool grad_enabled() { return thread_state().grad_enabled; }

/// Sets whether operations of this thread record their gradient rule; restores it at the end.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) : before_(grad_enabled()) {
    thread_state().grad_enabled = enabled;
  }
  ~GradModeGuard() { thread_state().grad_enabled = before_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
};

/// Nothing is recorded in its scope: inference, and backward passes that are not differentiated.
class NoGrad : public GradModeGuard {
 public:
  NoGrad() : GradModeGuard(false) {}
};

}  // namespace moiety::autograd

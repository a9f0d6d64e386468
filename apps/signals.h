// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace moiety::apps {

/// While it lives, SIGINT and SIGTERM raise a flag instead of ending the process, so that training
/// can write a checkpoint and stop. A signal that comes kPatienceSeconds later or more ends the
/// process at once; sooner it counts as the same request. One at a time: a process has one set of
/// handlers.
class StopSignals {
 public:
  static constexpr int kPatienceSeconds = 2;

  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal came.
  bool requested() const;
  /// The signal that came (SIGINT or SIGTERM), or 0.
  int signal() const;

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

}  // namespace moiety::apps

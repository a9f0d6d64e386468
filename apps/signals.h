// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace moiety::apps {

/// While it lives, SIGINT, SIGTERM and SIGHUP raise a flag instead of ending the process, so that
/// training can write a checkpoint and stop. A signal that comes kPatienceSeconds later or more
/// ends the process at once; sooner it counts as the same request. A reader of the progress that
/// goes away (SIGPIPE) is no reason to end. One at a time: a process has one set of handlers.
class StopSignals {
 public:
  static constexpr int kPatienceSeconds = 2;

  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal came.
  bool requested() const;
  /// The signal that came, or 0.
  int signal() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> old_ = {};
  struct sigaction old_pipe_ = {};
};

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/signals.h"

#include <ctime>

namespace moiety::apps {
namespace {

// A handler can reach nothing else: the only variables of the program that are not owned.
volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t received_at = 0;  // seconds of the monotonic clock

std::sig_atomic_t seconds_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

void remember(int signal) {
  const std::sig_atomic_t now = seconds_now();
  if (received == 0) {
    received = signal;
    received_at = now;
    return;
  }
  // timeout, job schedulers and terminals send one request twice, to the process and its group.
  if (now - received_at < StopSignals::kPatienceSeconds) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

StopSignals::StopSignals() {
  received = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &old_[i]);
    // nohup has the process ignore a hang-up: the training is meant to outlive its terminal.
    const bool outlives = kSignals[i] == SIGHUP && old_[i].sa_handler == SIG_IGN;
    if (!outlives) sigaction(kSignals[i], &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &old_pipe_);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  sigaction(SIGPIPE, &old_pipe_, nullptr);
}

bool StopSignals::requested() const { return received != 0; }

int StopSignals::signal() const { return received; }

}  // namespace moiety::apps

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
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool StopSignals::requested() const { return received != 0; }

int StopSignals::signal() const { return received; }

}  // namespace moiety::apps

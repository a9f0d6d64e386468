// SPDX-License-Identifier: Apache-2.0
#include "apps/signals.h"

namespace moiety::apps {
namespace {

// A handler can reach nothing else: the only variable of the program that is not owned.
volatile std::sig_atomic_t received = 0;

void remember(int signal) { received = signal; }

}  // namespace

StopSignals::StopSignals() {
  received = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  // SA_RESETHAND: the second signal finds the default handler.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
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

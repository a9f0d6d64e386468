// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace moiety {

/// While it lives, no signal handler runs on this thread: signals from outside wait or go to
/// another thread. Faults of the thread itself are still reported. A thread that is started
/// meanwhile inherits this for its whole life.
class SignalsHeld {
 public:
  SignalsHeld() noexcept {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace moiety

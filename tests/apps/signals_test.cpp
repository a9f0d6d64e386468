// SPDX-License-Identifier: Apache-2.0
#include "apps/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace moiety::apps {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(StopSignals, RaiseAFlag) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.requested());
    raise(signal);
    EXPECT_TRUE(signals.requested());
    EXPECT_EQ(signals.signal(), signal);
  }
}

TEST(StopSignals, RestoreTheHandlers) {
  const auto before = handler_of(SIGINT);
  {
    const StopSignals signals;
    EXPECT_NE(handler_of(SIGINT), before);
  }
  EXPECT_EQ(handler_of(SIGINT), before);
}

TEST(StopSignals, TheSecondSignalEndsTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignals signals;
    raise(SIGINT);
    raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace moiety::apps

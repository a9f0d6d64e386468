// SPDX-License-Identifier: Apache-2.0
#include "apps/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace moiety::apps {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(StopSignals, RaiseAFlag) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
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

TEST(StopSignals, NohupStays) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals;
    raise(SIGHUP);
    EXPECT_FALSE(signals.requested());
  }
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

int status_after(const std::function<void()>& run) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignals signals;
    run();
    _exit(signals.requested() ? 7 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(StopSignals, OneRequestSentTwiceIsOne) {
  // timeout and job schedulers signal a process and then its whole group.
  const int status = status_after([] {
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    std::raise(SIGINT);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(StopSignals, ASecondRequestEndsTheProcess) {
  const int status = status_after([] {
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::seconds(StopSignals::kPatienceSeconds + 1));
    std::raise(SIGINT);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace moiety::apps

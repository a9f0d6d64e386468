// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace moiety {

/// A fixed set of workers that run numbered tasks; the caller works too.
///
/// Tasks are claimed dynamically, so results are reproducible exactly when a task's work depends on
/// its number alone: callers split work by problem size, never by the number of threads.
class ThreadPool {
 public:
  /// `threads` counts the caller: 1 starts no worker. Throws UserError below 1, and Error where the
  /// system refuses a thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs task(0) .. task(count - 1), under the caller's grad mode, and returns when all are done.
  /// Inside a task, and with one thread or one task, it runs inline in order. Of the tasks that
  /// throw, the exception of the lowest number is rethrown here; tasks after it may not have run.
  template <class F>
  void run(std::int64_t count, const F& task) {
    run_erased(
        count, [](const void* f, std::int64_t i) { (*static_cast<const F*>(f))(i); }, &task);
  }

 private:
  using Invoke = void (*)(const void*, std::int64_t);
  struct Region;
  void run_erased(std::int64_t count, Invoke invoke, const void* task);
  void work(int lane);
  void stop() noexcept;

  std::unique_ptr<Region> region_;
  std::vector<std::jthread> workers_;  // last: joined before the region goes
};

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/thread_pool.h"

#include <exception>
#include <mutex>
#include <utility>

#include "tensor/error.h"
#include "tensor/thread_state.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace moiety {
namespace {

/// Long enough to bridge the gap between two kernels, short enough to give the core back when the
/// machine is shared.
constexpr int kSpins = 4000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

struct ThreadPool::Job {
  std::mutex callers;  // one parallel region at a time
  Invoke invoke = nullptr;
  const void* task = nullptr;
  std::int64_t count = 0;
  std::atomic<std::int64_t> next{0};
  std::mutex error_mutex;
  std::exception_ptr error;
};

ThreadPool::ThreadPool(int threads) : job_(std::make_unique<Job>()) {
  check<UserError>(threads >= 1, "a thread pool needs at least one thread, not ", threads);
  for (int lane = 1; lane < threads; ++lane) {
    workers_.emplace_back([this, lane] { work(lane); });
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  epoch_.fetch_add(1);
  epoch_.notify_all();
}

void ThreadPool::drain() {
  Job& job = *job_;
  for (;;) {
    const std::int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    try {
      job.invoke(job.task, i);
    } catch (...) {
      const std::lock_guard lock(job.error_mutex);
      if (!job.error) job.error = std::current_exception();
    }
  }
}

void ThreadPool::run_erased(std::int64_t count, Invoke invoke, const void* task) {
  ThreadState& state = thread_state();
  if (workers_.empty() || count <= 1 || state.in_parallel) {
    for (std::int64_t i = 0; i < count; ++i) invoke(task, i);
    return;
  }
  Job& job = *job_;
  const std::lock_guard one_region(job.callers);
  job.invoke = invoke;
  job.task = task;
  job.count = count;
  job.next.store(0, std::memory_order_relaxed);
  running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  state.in_parallel = true;
  const bool grad_enabled = state.grad_enabled;
  drain();
  state.in_parallel = false;
  state.grad_enabled = grad_enabled;
  for (int spin = 0; running_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      const int left = running_.load(std::memory_order_acquire);
      if (left != 0) running_.wait(left, std::memory_order_acquire);
    }
  }
  if (job.error) std::rethrow_exception(std::exchange(job.error, nullptr));
}

void ThreadPool::work(int lane) {
  ThreadState& state = thread_state();
  state.lane = lane;
  state.in_parallel = true;
  std::uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; epoch_.load(std::memory_order_acquire) == seen && spin < kSpins; ++spin) {
      pause();
    }
    epoch_.wait(seen, std::memory_order_acquire);
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_) return;
    state.grad_enabled = true;
    drain();
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

}  // namespace moiety

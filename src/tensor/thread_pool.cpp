// SPDX-License-Identifier: Apache-2.0
#include "tensor/thread_pool.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "tensor/error.h"
#include "tensor/signals_held.h"
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

/// The calling thread is in a region, also where it is the only one: work that is cut otherwise
/// inside of regions is cut the same way on any number of threads.
class InParallel {
 public:
  InParallel() { thread_state().in_parallel = true; }
  ~InParallel() { thread_state().in_parallel = false; }
  InParallel(const InParallel&) = delete;
  InParallel& operator=(const InParallel&) = delete;
};

}  // namespace

/// The parallel region under way. `gate` is open during a region and counts the workers inside.
/// Plain members are written only while it is closed and nobody is inside, so a worker may come
/// late, into whichever region is open then, or not at all: a region never waits for a worker that
/// the system has not scheduled. Gate and epoch are sequentially consistent: a wait must not miss a
/// notify. Counters that different threads hammer have cache lines of their own.
struct ThreadPool::Region {
  static constexpr std::uint32_t kOpen = 1u << 31;

  std::mutex callers;  // one region at a time
  Invoke invoke = nullptr;
  const void* task = nullptr;
  std::int64_t count = 0;
  bool grad_enabled = true;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::int64_t error_task = 0;
  std::atomic<bool> stop{false};
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // regions so far: workers wait for the next
  alignas(64) std::atomic<std::uint32_t> gate{0};
  alignas(64) std::atomic<std::int64_t> next{0};

  void open();
  void close();
  bool enter();
  void leave();
  void drain();
};

void ThreadPool::Region::open() {
  gate.store(kOpen);
  epoch.fetch_add(1);
  epoch.notify_all();
}

/// Returns when the workers inside have left.
void ThreadPool::Region::close() {
  std::uint32_t inside = gate.fetch_and(~kOpen) & ~kOpen;
  for (int spin = 0; inside != 0; ++spin, inside = gate.load()) {
    if (spin < kSpins) {
      pause();
    } else {
      gate.wait(inside);
    }
  }
}

bool ThreadPool::Region::enter() {
  std::uint32_t seen = gate.load();
  while ((seen & kOpen) != 0) {
    if (gate.compare_exchange_weak(seen, seen + 1)) return true;
  }
  return false;
}

void ThreadPool::Region::leave() {
  if (gate.fetch_sub(1) == 1) gate.notify_one();  // closed, and the last one out
}

/// Claims tasks until none is left. Tasks are claimed in order, so every task below a failed one
/// has been claimed before it: the lowest failure is the same whatever the timing.
void ThreadPool::Region::drain() {
  for (;;) {
    const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= count) return;
    try {
      invoke(task, i);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      const std::lock_guard lock(error_mutex);
      if (!error || i < error_task) {
        error = std::current_exception();
        error_task = i;
      }
    }
  }
}

ThreadPool::ThreadPool(int threads) : region_(std::make_unique<Region>()) {
  check<UserError>(threads >= 1, "a thread pool needs at least one thread, not ", threads);
  const SignalsHeld by_workers;  // handlers belong on the program's own threads
  try {
    for (int lane = 1; lane < threads; ++lane) {
      workers_.emplace_back([this, lane] { work(lane); });
    }
  } catch (const std::system_error& refusal) {
    stop();
    throw Error(concat("the system refused thread ", this->threads() + 1, " of ", threads, " (",
                       refusal.what(), "); lower run.threads"));
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() noexcept {
  region_->stop.store(true);
  region_->epoch.fetch_add(1);
  region_->epoch.notify_all();
}

void ThreadPool::run_erased(std::int64_t count, Invoke invoke, const void* task) {
  ThreadState& state = thread_state();
  if (count <= 1 || state.in_parallel) {
    for (std::int64_t i = 0; i < count; ++i) invoke(task, i);
    return;
  }
  const InParallel in_parallel;
  if (workers_.empty()) {
    for (std::int64_t i = 0; i < count; ++i) invoke(task, i);
    return;
  }
  Region& region = *region_;
  const std::lock_guard one_region(region.callers);
  region.invoke = invoke;
  region.task = task;
  region.count = count;
  region.grad_enabled = state.grad_enabled;
  region.next.store(0, std::memory_order_relaxed);
  region.open();
  region.drain();
  region.close();
  if (region.error) std::rethrow_exception(std::exchange(region.error, nullptr));
}

void ThreadPool::work(int lane) {
  Region& region = *region_;
  ThreadState& state = thread_state();
  state.lane = lane;
  state.in_parallel = true;
  std::uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; region.epoch.load() == seen && spin < kSpins; ++spin) pause();
    region.epoch.wait(seen);
    seen = region.epoch.load();
    if (region.stop.load()) return;
    if (!region.enter()) continue;
    state.grad_enabled = region.grad_enabled;
    region.drain();
    region.leave();
  }
}

}  // namespace moiety

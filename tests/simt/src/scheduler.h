// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "checker.h"
#include "fiber.h"
#include "simt/device.h"
#include "simt/emulator.h"
#include "simt/launch.h"
#include "simt/shared.h"

namespace simt {

inline constexpr std::size_t kLargestSharedMemory = 227 << 10;
inline constexpr std::size_t kLargestStaticSharedMemory = 48 << 10;

/// Held by every call of the host interface: the emulated GPU does one thing at a time.
std::mutex& runtime_mutex();
Counters& mutable_counters();

/// Runs kernels: one block after another, each thread of a block on a fiber. A fiber runs threads
/// from beginning to end, one after another, for as long as none has to wait; only then is another
/// fiber needed. The functions of the second group are called on fibers.
class Scheduler {
 public:
  /// Returns the first violation, which ends the launch, or "".
  std::string run(const Kernel& kernel, const Configuration& configuration);
  /// "thread (3,0,0) of block (0,0,0)", of the present launch.
  std::string name_of(unsigned thread, std::uint32_t serial) const;

  void collective(unsigned mask, const char* operation, void* payload, Combine combine, Place place,
                  bool orders_memory);
  unsigned live_lanes() const { return ~warps_[current_ / 32].exited; }
  BarrierResult block_barrier(const char* operation, bool predicate, Place place);
  void named_barrier(int id, int threads, bool waits, Place place);
  void* shared_memory(SharedArray& array);
  void* dynamic_shared_memory() const { return dynamic_; }
  void queue_copy(void* shared, const void* global, int bytes, int source_bytes, Place place);
  void commit_copies() { ++copies_of_current().committed; }
  void land_copies(int groups);
  void check_access(const void* data, std::size_t bytes, Access access, Site site);
  /// An access that the compiler has reported: checked, and an occasion for pre-emption.
  void check_observed(const void* data, std::size_t bytes, Access access, std::size_t alignment,
                      const void* return_address);
  /// A fence, for the checker.
  void fence() { checker_.fence(); }
  /// Stops the thread for another with the probability of the settings.
  void maybe_preempt();
  /// Lets others run, on behalf of a thread that waits for memory to change.
  void spin(Place place);
  void note_progress() { spins_ = 0; }
  /// Ends the launch.
  [[noreturn]] void fail(std::string what, Place place);

 private:
  struct Thread {
    Fiber* fiber = nullptr;  // none before it has begun
    bool exited = false;
    const char* operation = nullptr;  // what it waits in, if it waits
    Place place;
    unsigned mask = 0;
  };
  struct Collective {
    unsigned mask;
    unsigned arrived;
    const char* operation;
    Place place;
    Combine combine;
    bool orders_memory;
    std::array<void*, 32> lanes;
  };
  struct Warp {
    unsigned exited = 0;
    std::vector<Collective> pending;
  };
  struct Barrier {
    unsigned arrived = 0;
    unsigned votes = 0;
    int expected = 0;  // of a named one
    const char* operation = nullptr;
    Place place;
    std::vector<unsigned> waiting;
    WarpSet came = 0;
    BarrierResult result{};
  };
  struct Copy {
    void* shared;
    const void* global;
    int bytes;
    int source_bytes;
    unsigned group;
    Place place;
  };
  struct Copies {
    std::vector<Copy> pending;
    unsigned committed = 0;
  };

  static void run_fiber();
  void set_block_size(dim3 size);
  void begin_block(std::uint64_t number);
  void run_block();
  std::uint64_t block_at(std::uint64_t turn) const;
  Fiber& idle_fiber();
  void run_threads();
  bool take_ready();
  void wait(const char* operation, Place place, unsigned mask);
  void wake(unsigned thread);
  void give_way();
  void exit_thread();
  bool complete(Warp& warp, std::size_t index);
  void release(Barrier& barrier);
  Copies& copies_of_current();
  void land(const Copy& copy);
  bool may_use(const void* host, std::size_t bytes) const;
  std::string deadlock_text() const;
  std::string by_whom(const std::string& site) const;
  std::uint64_t random();
  [[noreturn]] void end_with(std::string violation);

  const Kernel* kernel_ = nullptr;
  Configuration configuration_;
  std::vector<uint3> thread_index_{{}};
  std::vector<std::uint32_t> block_order_;  // of the random order
  std::uint32_t first_serial_ = 1;
  std::uint32_t serial_ = 0;  // of the running block; never used again
  std::uint64_t random_state_ = 0;
  std::string violation_;

  Context host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::vector<Thread> threads_;
  std::deque<unsigned> ready_;
  unsigned current_ = 0;
  unsigned live_ = 0;
  std::uint64_t spins_ = 0;  // since something happened

  std::vector<Warp> warps_;
  std::array<Barrier, 16> barriers_;
  std::vector<Copies> copies_;  // of the threads; empty in a block that makes none
  void* dynamic_ = nullptr;
  std::size_t shared_bytes_ = 0;  // of the window, with gaps
  std::size_t static_shared_bytes_ = 0;
  Checker checker_;
};

Scheduler& scheduler();

}  // namespace simt

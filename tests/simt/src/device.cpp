// SPDX-License-Identifier: Apache-2.0
// The device functions that kernels call, as far as they are not in headers: each leaves the
// kernel's own code for the runtime, whose accesses to memory are not the kernel's.
#include <bit>

#include "scheduler.h"
#include "simt/async_copy.h"
#include "simt/atomics.h"
#include "simt/builtins.h"

namespace simt {
namespace {

class RuntimeScope {
 public:
  RuntimeScope() { kernel_code_runs = false; }
  ~RuntimeScope() { kernel_code_runs = true; }
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;
};

template <class T>
T applied(AtomicOperation operation, T old, T value) {
  if (operation == AtomicOperation::add) {
    if constexpr (std::is_integral_v<T>) {  // wraps around
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(value));
    } else {
      return old + value;
    }
  }
  if (operation == AtomicOperation::minimum) return value < old ? value : old;
  if (operation == AtomicOperation::maximum) return old < value ? value : old;
  if constexpr (std::is_integral_v<T>) {
    if (operation == AtomicOperation::bit_and) return old & value;
    if (operation == AtomicOperation::bit_or) return old | value;
    if (operation == AtomicOperation::bit_xor) return old ^ value;
  }
  return value;
}

template <class T>
void begin_atomic(const T* memory, Place place) {
  if (std::bit_cast<std::uintptr_t>(memory) % sizeof(T) != 0) {
    scheduler().fail("misaligned atomic", place);
  }
  if constexpr (kChecks) {
    scheduler().check_access(memory, sizeof(T), Access::atomic, Site::of(place));
    scheduler().maybe_preempt();
  }
}

/// An atomic that changes nothing may be part of a spin: lets those run who could change it.
void end_atomic(bool changed, Place place) {
  if (changed) {
    scheduler().note_progress();
  } else {
    scheduler().spin(place);
  }
}

}  // namespace

void warp_collective(unsigned mask, const char* operation, void* payload, Combine combine,
                     Place place) {
  const RuntimeScope scope;
  scheduler().collective(mask, operation, payload, combine, place, false);
}

void sync_warp(unsigned mask, Place place) {
  const RuntimeScope scope;
  scheduler().collective(mask, "__syncwarp", nullptr, nullptr, place, true);
}

unsigned live_lanes() {
  const RuntimeScope scope;
  return scheduler().live_lanes();
}

BarrierResult block_barrier(const char* operation, bool predicate, Place place) {
  const RuntimeScope scope;
  return scheduler().block_barrier(operation, predicate, place);
}

void barrier_sync(int id, int threads, Place place) {
  const RuntimeScope scope;
  scheduler().named_barrier(id, threads, true, place);
}

void barrier_arrive(int id, int threads, Place place) {
  const RuntimeScope scope;
  scheduler().named_barrier(id, threads, false, place);
}

void fail(const char* what, Place place) {
  kernel_code_runs = false;
  scheduler().fail(what, place);
}

void check_access(const void* data, std::size_t bytes, Access access, Place place) {
  if constexpr (kChecks) {
    const RuntimeScope scope;
    scheduler().check_access(data, bytes, access, Site::of(place));
  }
}

bool is_shared(const void* data) {
  const RuntimeScope scope;
  return memory().is_shared(data);
}

void yield(Place place) {
  const RuntimeScope scope;
  scheduler().spin(place);
}

void fence_device() {
  const RuntimeScope scope;
  scheduler().fence();
}

void* shared_memory(SharedArray& array) {
  const RuntimeScope scope;
  return scheduler().shared_memory(array);
}

unsigned char* dynamic_shared_memory() {
  const RuntimeScope scope;
  return static_cast<unsigned char*>(scheduler().dynamic_shared_memory());
}

void queue_copy(void* shared, const void* global, int bytes, int source_bytes, Place place) {
  const RuntimeScope scope;
  scheduler().queue_copy(shared, global, bytes, source_bytes, place);
}

void cp_async_commit() {
  const RuntimeScope scope;
  scheduler().commit_copies();
}

void wait_for_copies(int groups) {
  const RuntimeScope scope;
  scheduler().land_copies(groups);
}

template <class T>
T atomic_apply(AtomicOperation operation, T* memory, T value, Place place) {
  const RuntimeScope scope;
  begin_atomic(memory, place);
  const T old = *memory;
  *memory = applied(operation, old, value);
  end_atomic(*memory != old, place);
  return old;
}

template <class T>
T atomic_compare_and_swap(T* memory, T expected, T desired, Place place) {
  const RuntimeScope scope;
  begin_atomic(memory, place);
  const T old = *memory;
  if (old == expected) *memory = desired;
  end_atomic(*memory != old, place);
  return old;
}

template int atomic_apply(AtomicOperation, int*, int, Place);
template unsigned atomic_apply(AtomicOperation, unsigned*, unsigned, Place);
template long long atomic_apply(AtomicOperation, long long*, long long, Place);
template unsigned long long atomic_apply(AtomicOperation, unsigned long long*, unsigned long long,
                                         Place);
template float atomic_apply(AtomicOperation, float*, float, Place);
template double atomic_apply(AtomicOperation, double*, double, Place);
template int atomic_compare_and_swap(int*, int, int, Place);
template unsigned atomic_compare_and_swap(unsigned*, unsigned, unsigned, Place);
template unsigned short atomic_compare_and_swap(unsigned short*, unsigned short, unsigned short,
                                                Place);
template unsigned long long atomic_compare_and_swap(unsigned long long*, unsigned long long,
                                                    unsigned long long, Place);

}  // namespace simt

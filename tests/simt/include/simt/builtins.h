// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt/device.h"
#include "simt/vector_types.h"

// __shared__ is left undefined on purpose: a static array would be neither poisoned for each block
// nor bounded. Kernels use MOIETY_SHARED.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

// Plain variables, set whenever another thread goes on: nothing to look up, and never a race.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

inline void __syncthreads(simt::Place place = simt::Place::current()) {
  simt::block_barrier("__syncthreads", false, place);
}
inline int __syncthreads_count(int predicate, simt::Place place = simt::Place::current()) {
  return static_cast<int>(simt::block_barrier("__syncthreads_count", predicate != 0, place).votes);
}
inline int __syncthreads_or(int predicate, simt::Place place = simt::Place::current()) {
  return simt::block_barrier("__syncthreads_or", predicate != 0, place).votes != 0;
}
inline int __syncthreads_and(int predicate, simt::Place place = simt::Place::current()) {
  const auto [votes, threads] = simt::block_barrier("__syncthreads_and", predicate != 0, place);
  return votes == threads;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, simt::Place place = simt::Place::current()) {
  simt::sync_warp(mask, place);
}

inline void __threadfence() { simt::fence_device(); }
inline void __threadfence_system() { simt::fence_device(); }
inline void __threadfence_block() {}
inline void __nanosleep(unsigned, simt::Place place = simt::Place::current()) {
  simt::yield(place);
}
[[noreturn]] inline void __trap(simt::Place place = simt::Place::current()) {
  simt::fail("__trap", place);
}

namespace simt {

/// PTX bar.sync: waits at barrier `id` (1 to 15) of the block until `threads` threads, a multiple
/// of the warp size, have come to it by sync or arrive. Exited threads do not count.
void barrier_sync(int id, int threads, Place place = Place::current());
/// PTX bar.arrive: counts at the barrier without waiting.
void barrier_arrive(int id, int threads, Place place = Place::current());

}  // namespace simt

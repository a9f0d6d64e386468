// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What the host side of a program may ask of the emulated GPU beyond CUDA's interface.
//
// What the emulated GPU cannot show: missing fences (all threads see memory in one order), how fast
// anything is, and what the assembly of the GPU's wrappers does. The check build sees accesses in
// files compiled as kernels alone: not those of calls of memcpy and memset, nor those of inline
// functions that host files have as well, where the linker keeps the host's copy.

namespace simt {

/// In which order threads that can run do so, and blocks as well.
enum class Order : std::uint8_t { sequential, reverse, random };

/// How kernels run. Settings of the process; change them between launches.
struct Settings {
  Order order = Order::sequential;
  std::uint64_t seed = 1;  ///< of the random order and of pre-emption
  /// Probability that a thread stops for another at an access to memory (check build only).
  double preempt = 0;
  std::size_t memory_bytes = std::size_t{4096} << 20;  ///< of the emulated GPU
  /// Whether its compute mode is Default. It is slow, so at first it is Prohibited: a program that
  /// takes whatever GPU there is leaves it alone.
  bool offered = false;
};

/// At first from the environment: MOIETY_SIMT_ORDER=sequential|reverse|random:SEED,
/// MOIETY_SIMT_PREEMPT=0.02, MOIETY_SIMT_MEMORY=4096 (MiB), MOIETY_SIMT_OFFERED=1. Throws
/// std::invalid_argument for another value.
Settings& settings();

struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t switches = 0;  ///< from the stack of one CUDA thread to that of another
  std::uint64_t violations = 0;
};

/// What has happened in this process so far.
Counters counters();

/// Whether this is the check build, which sees every access of a kernel to memory.
bool checks_memory();

/// Marks [memory, memory + bytes) in a cudaMalloc slab as one block that was just handed out: its
/// content is undefined, and from now on what lies between the blocks of that slab is out of
/// bounds. Called by an allocator that cuts up slabs. While the calling thread captures a graph,
/// each replay repeats it in its place.
void note_block(void* memory, std::size_t bytes);
/// The block at `memory` was given back: its bytes are out of bounds. Without effect on a pointer
/// that is no noted block.
void forget_block(void* memory);

}  // namespace simt

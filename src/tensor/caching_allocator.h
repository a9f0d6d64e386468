// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tensor/error.h"

namespace moiety {

/// Bytes of a device's memory.
struct DeviceMemory {
  std::size_t total = 0;
  std::size_t free = 0;  ///< of it, for anyone who asks
};

/// What to throw where a device has not the `asked` bytes: it says so beside what this process
/// holds and what is free.
MemoryError out_of_memory(const std::string& device, std::size_t asked, std::size_t held,
                          const DeviceMemory& memory);

/// Where a caching allocator takes its slabs from: the system (CPU) or the CUDA driver. Called by
/// several threads at once.
class SlabSource {
 public:
  virtual ~SlabSource() = default;
  /// At least `bytes`, aligned to 64; throws MemoryError when there is none.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give_back(void* slab, std::size_t bytes) noexcept = 0;
  /// A piece of a slab goes to a user, or comes back: for memory that is watched.
  virtual void handed_out(void* /*piece*/, std::size_t /*bytes*/) noexcept {}
  virtual void taken_back(void* /*piece*/) noexcept {}
};

struct AllocatorStats {
  std::uint64_t system_calls = 0;  ///< slabs taken from the system so far
  std::size_t bytes_reserved = 0;  ///< held from the system
  std::size_t bytes_in_use = 0;    ///< handed out now
  std::size_t peak_in_use = 0;     ///< sum of the lanes' peaks: at least the peak
  std::uint64_t allocations = 0;   ///< blocks handed out so far
};

/// Keeps freed blocks by size class and returns them only on trim(), when the system has no more,
/// or at its end: on some virtual machines the first touch of a fresh page costs more than all
/// arithmetic on it.
///
/// Blocks are rounded up to an eighth of a power of two; where a class has no free block, one of at
/// most half as much again is reused. Each lane (worker of a parallel region) has its own slabs and
/// free lists, so that workers neither wait for each other nor trade cache lines; a block goes back
/// to the lane that it came from, whichever thread frees it.
class CachingAllocator {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit CachingAllocator(std::unique_ptr<SlabSource> source);
  /// All blocks must be back: the slabs of those that are not are never returned.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// An allocated block: the pointer, and what deallocate() needs.
  struct Block {
    void* data = nullptr;
    std::uint32_t size_class = 0;
    std::int32_t lane = 0;
  };

  /// 64-byte aligned, uninitialised; {nullptr} for 0 bytes. Throws MemoryError when memory runs
  /// out.
  Block allocate(std::size_t bytes);
  void deallocate(Block block) noexcept;

  /// Takes the first slab of lanes 0 .. count - 1 now, untouched: a worker that joins late then
  /// asks nothing of the system in the middle of a training.
  void reserve(int count);

  /// From now on the slabs of a lane stay until the allocator's end: recorded work uses them.
  void keep(int lane);

  AllocatorStats stats() const;
  /// Gives back to the system all slabs of lanes that have nothing in use, and elsewhere the free
  /// blocks that have a slab of their own.
  void trim() noexcept;

 private:
  class Lane;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Anonymous pages, on transparent huge pages where the kernel offers them.
std::unique_ptr<SlabSource> make_system_slab_source();

}  // namespace moiety

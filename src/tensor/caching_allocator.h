// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace moiety {

/// Where a caching allocator takes its slabs from: the system (CPU) or the CUDA driver.
class SlabSource {
 public:
  virtual ~SlabSource() = default;
  /// At least `bytes`; throws moiety::Error when there is none.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give_back(void* slab, std::size_t bytes) noexcept = 0;
};

struct AllocatorStats {
  std::uint64_t system_calls = 0;  ///< slabs taken from the system so far
  std::size_t bytes_reserved = 0;  ///< held from the system
  std::size_t bytes_in_use = 0;    ///< handed out now
  std::size_t peak_in_use = 0;
  std::uint64_t allocations = 0;  ///< blocks handed out so far
};

/// Keeps freed blocks by size class and never returns them before trim() or its end: on some
/// virtual machines the first touch of a fresh page costs more than all arithmetic on it.
///
/// Blocks are rounded up to an eighth of a power of two. Each lane (worker of a parallel region)
/// has its own free lists, so that workers neither wait for each other nor trade cache lines; a
/// block goes back to the lane that it came from.
class CachingAllocator {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit CachingAllocator(std::unique_ptr<SlabSource> source);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// An allocated block: the pointer, and what deallocate() needs.
  struct Block {
    void* data = nullptr;
    std::uint32_t size_class = 0;
    std::int32_t lane = 0;
  };

  /// 64-byte aligned, uninitialised; {nullptr} for 0 bytes.
  Block allocate(std::size_t bytes);
  void deallocate(Block block) noexcept;

  AllocatorStats stats() const;
  /// Gives all slabs back to the system when nothing is in use; otherwise does nothing.
  void trim() noexcept;

 private:
  struct Lane;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Anonymous pages, on transparent huge pages where the kernel offers them.
std::unique_ptr<SlabSource> make_system_slab_source();

}  // namespace moiety

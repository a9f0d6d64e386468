// SPDX-License-Identifier: Apache-2.0
#include "tensor/caching_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "tensor/error.h"
#include "tensor/thread_state.h"

namespace moiety {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSlabBytes = std::size_t{32} << 20;
constexpr int kLanes = 64;  // lanes beyond share free lists
constexpr int kClasses = 8 * 64;

/// Classes are 64 * 2^octave * (1 + step / 8).
std::uint32_t class_of(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>((bytes + 63) / 64, 1);
  if (units < 8) return static_cast<std::uint32_t>(units);
  const int octave = std::bit_width(units) - 1;  // units >= 8: octave >= 3
  const std::size_t step = std::size_t{1} << (octave - 3);
  const std::size_t rounded = (units + step - 1) / step;  // 8 .. 16 steps
  return static_cast<std::uint32_t>((octave - 3) * 8 + rounded);
}

std::size_t bytes_of(std::uint32_t size_class) {
  if (size_class < 16) return std::size_t{size_class} * 64;
  const int shift = static_cast<int>((size_class - 8) / 8);
  const std::size_t steps = 8 + (size_class - 8) % 8;
  return (steps << shift) * 64;
}

class SystemSlabSource : public SlabSource {
 public:
  void* take(std::size_t bytes) override {
    void* slab =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(slab != MAP_FAILED, "out of memory: the system refused ", bytes >> 20,
          " MiB; lower data.batch_size or model.hidden");
    madvise(slab, bytes, MADV_HUGEPAGE);  // a hint: refused without harm
    return slab;
  }
  void give_back(void* slab, std::size_t bytes) noexcept override { munmap(slab, bytes); }
};

}  // namespace

std::unique_ptr<SlabSource> make_system_slab_source() {
  return std::make_unique<SystemSlabSource>();
}

struct alignas(64) CachingAllocator::Lane {
  std::mutex mutex;
  std::array<std::vector<void*>, kClasses> free;
  std::byte* bump = nullptr;  // unused rest of the current slab
  std::size_t bump_left = 0;
  std::size_t in_use = 0;
  std::size_t peak = 0;
  std::uint64_t allocations = 0;
};

struct CachingAllocator::Impl {
  std::unique_ptr<SlabSource> source;
  std::array<Lane, kLanes> lanes;
  mutable std::mutex slab_mutex;
  std::vector<std::pair<void*, std::size_t>> slabs;
  std::size_t reserved = 0;
  std::uint64_t system_calls = 0;

  std::byte* take_slab(std::size_t bytes) {
    const std::lock_guard lock(slab_mutex);
    void* slab = source->take(bytes);
    slabs.emplace_back(slab, bytes);
    reserved += bytes;
    ++system_calls;
    return static_cast<std::byte*>(slab);
  }
};

CachingAllocator::CachingAllocator(std::unique_ptr<SlabSource> source)
    : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
}

CachingAllocator::~CachingAllocator() { trim(); }

CachingAllocator::Block CachingAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  // Sizes come from shapes, and shapes from files: a nonsensical one is an error, not an overflow.
  check(bytes < (std::size_t{1} << 48), "cannot allocate ", bytes, " bytes");
  const std::uint32_t size_class = class_of(bytes);
  const std::size_t rounded = bytes_of(size_class);
  const int lane_number = thread_state().lane % kLanes;
  Lane& lane = impl_->lanes[lane_number];
  const std::lock_guard lock(lane.mutex);
  void* data = nullptr;
  if (auto& free = lane.free[size_class]; !free.empty()) {
    data = free.back();
    free.pop_back();
  } else if (rounded > kSlabBytes / 4) {
    // A large block has a slab of its own, so that the rest of a shared slab is never wasted.
    data = impl_->take_slab((rounded + kHugePage - 1) / kHugePage * kHugePage);
  } else {
    if (lane.bump_left < rounded) {
      lane.bump = impl_->take_slab(kSlabBytes);
      lane.bump_left = kSlabBytes;
    }
    data = lane.bump;
    lane.bump += rounded;
    lane.bump_left -= rounded;
  }
  lane.in_use += rounded;
  lane.peak = std::max(lane.peak, lane.in_use);
  ++lane.allocations;
  return {data, size_class, lane_number};
}

void CachingAllocator::deallocate(Block block) noexcept {
  if (block.data == nullptr) return;
  Lane& lane = impl_->lanes[block.lane];
  const std::lock_guard lock(lane.mutex);
  lane.in_use -= bytes_of(block.size_class);
  lane.free[block.size_class].push_back(block.data);
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats out;
  for (Lane& lane : impl_->lanes) {
    const std::lock_guard lock(lane.mutex);
    out.bytes_in_use += lane.in_use;
    out.peak_in_use += lane.peak;
    out.allocations += lane.allocations;
  }
  const std::lock_guard lock(impl_->slab_mutex);
  out.system_calls = impl_->system_calls;
  out.bytes_reserved = impl_->reserved;
  return out;
}

void CachingAllocator::trim() noexcept {
  if (stats().bytes_in_use != 0) return;
  for (Lane& lane : impl_->lanes) {
    const std::lock_guard lock(lane.mutex);
    for (auto& free : lane.free) free.clear();
    lane.bump = nullptr;
    lane.bump_left = 0;
  }
  const std::lock_guard lock(impl_->slab_mutex);
  for (auto [slab, bytes] : impl_->slabs) impl_->source->give_back(slab, bytes);
  impl_->slabs.clear();
  impl_->reserved = 0;
}

}  // namespace moiety

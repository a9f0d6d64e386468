// SPDX-License-Identifier: Apache-2.0
#include "tensor/caching_allocator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "tensor/error.h"
#include "tensor/thread_state.h"

namespace moiety {
namespace {

constexpr std::size_t kUnit = CachingAllocator::kAlignment;
constexpr std::size_t kSlabBytes = std::size_t{32} << 20;
constexpr std::size_t kSlabRounding = std::size_t{2} << 20;  // a huge page
constexpr std::size_t kLargestShared = kSlabBytes / 4;
constexpr std::size_t kLargest = std::size_t{1} << 48;
constexpr int kLanes = 64;  // lanes beyond share free lists
constexpr std::uint32_t kSmallClasses = 8;
constexpr std::uint32_t kReuseSpan = 4;  // of 8 classes an octave: up to 1.5 times the size

/// Classes 1 to 8 are that many units; from there on they are eighths of an octave.
std::uint32_t class_of(std::size_t bytes) {
  const std::size_t units = (bytes + kUnit - 1) / kUnit;
  if (units < kSmallClasses) return static_cast<std::uint32_t>(units);
  const int shift = std::bit_width(units) - 4;
  const std::size_t eighths = (units + (std::size_t{1} << shift) - 1) >> shift;  // 8 to 16
  return static_cast<std::uint32_t>(static_cast<std::size_t>(shift) * 8 + eighths);
}

std::size_t bytes_of(std::uint32_t size_class) {
  if (size_class < kSmallClasses) return size_class * kUnit;
  const std::uint32_t shift = size_class / 8 - 1;
  return (std::size_t{8 + size_class % 8} << shift) * kUnit;
}

bool has_own_slab(std::uint32_t size_class) { return bytes_of(size_class) > kLargestShared; }

}  // namespace

MemoryError out_of_memory(const std::string& device, std::size_t asked, std::size_t held,
                          const DeviceMemory& memory) {
  const auto mib = [](std::size_t bytes) { return bytes >> 20; };
  return MemoryError(concat("out of memory on ", device, ": asked for ", mib(asked),
                            " MiB; this process holds ", mib(held), " MiB, ", mib(memory.free),
                            " of ", mib(memory.total), " MiB are free"));
}

class alignas(64) CachingAllocator::Lane {
 public:
  /// A block of the class or slightly larger, from the free lists or else from the source.
  Block allocate(std::uint32_t size_class, SlabSource& source);
  void deallocate(Block block) noexcept;
  void reserve(SlabSource& source);
  void trim(SlabSource& source) noexcept;
  void keep(bool kept);
  void add_to(AllocatorStats& stats);

 private:
  struct FreeList {
    std::vector<void*> blocks;
    std::size_t made = 0;  // blocks of this class that exist; there is room in `blocks` for all
  };
  struct Slab {
    void* data;
    std::size_t bytes;
  };

  void* carve(std::uint32_t size_class, SlabSource& source);
  void begin_shared_slab(SlabSource& source);
  void* take_slab(std::size_t bytes, SlabSource& source);
  void give_back(std::vector<Slab>::iterator slab, SlabSource& source) noexcept;

  std::mutex mutex_;
  std::vector<FreeList> free_;  // by size class; made at the lane's first use
  std::vector<Slab> slabs_;
  std::byte* rest_ = nullptr;  // unused end of the newest shared slab
  std::size_t rest_bytes_ = 0;
  bool kept_ = false;
  AllocatorStats stats_;
};

CachingAllocator::Block CachingAllocator::Lane::allocate(std::uint32_t size_class,
                                                         SlabSource& source) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) free_.resize(class_of(kLargest) + kReuseSpan + 1);
  Block block{nullptr, size_class, 0};
  const std::uint32_t last = size_class < kSmallClasses ? size_class : size_class + kReuseSpan;
  for (std::uint32_t candidate = size_class; candidate <= last; ++candidate) {
    auto& blocks = free_[candidate].blocks;
    if (blocks.empty()) continue;
    block.data = blocks.back();
    block.size_class = candidate;
    blocks.pop_back();
    break;
  }
  if (block.data == nullptr) block.data = carve(size_class, source);
  stats_.bytes_in_use += bytes_of(block.size_class);
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.bytes_in_use);
  ++stats_.allocations;
  return block;
}

void* CachingAllocator::Lane::carve(std::uint32_t size_class, SlabSource& source) {
  FreeList& list = free_[size_class];
  if (list.blocks.capacity() == list.made)
    list.blocks.reserve(std::max<std::size_t>(8, 2 * list.made));
  const std::size_t bytes = bytes_of(size_class);
  void* data = nullptr;
  if (has_own_slab(size_class)) {
    data = take_slab((bytes + kSlabRounding - 1) / kSlabRounding * kSlabRounding, source);
  } else {
    if (rest_bytes_ < bytes) begin_shared_slab(source);
    data = rest_;
    rest_ += bytes;
    rest_bytes_ -= bytes;
  }
  ++list.made;
  return data;
}

void CachingAllocator::Lane::begin_shared_slab(SlabSource& source) {
  rest_ = static_cast<std::byte*>(take_slab(kSlabBytes, source));
  rest_bytes_ = kSlabBytes;
}

void CachingAllocator::Lane::reserve(SlabSource& source) {
  const std::lock_guard lock(mutex_);
  if (slabs_.empty()) begin_shared_slab(source);
}

void* CachingAllocator::Lane::take_slab(std::size_t bytes, SlabSource& source) {
  slabs_.reserve(std::bit_ceil(slabs_.size() + 1));  // so that a slab taken is never lost
  void* data = source.take(bytes);
  slabs_.push_back({data, bytes});
  stats_.bytes_reserved += bytes;
  ++stats_.system_calls;
  return data;
}

void CachingAllocator::Lane::give_back(std::vector<Slab>::iterator slab,
                                       SlabSource& source) noexcept {
  source.give_back(slab->data, slab->bytes);
  stats_.bytes_reserved -= slab->bytes;
  *slab = slabs_.back();
  slabs_.pop_back();
}

void CachingAllocator::Lane::deallocate(Block block) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.bytes_in_use -= bytes_of(block.size_class);
  free_[block.size_class].blocks.push_back(block.data);
}

void CachingAllocator::Lane::trim(SlabSource& source) noexcept {
  const std::lock_guard lock(mutex_);
  if (kept_) return;
  if (stats_.bytes_in_use == 0) {
    while (!slabs_.empty()) give_back(slabs_.end() - 1, source);
    for (FreeList& list : free_) list = {};
    rest_ = nullptr;
    rest_bytes_ = 0;
    return;
  }
  for (std::uint32_t size_class = 0; size_class < free_.size(); ++size_class) {
    if (!has_own_slab(size_class)) continue;
    FreeList& list = free_[size_class];
    for (void* block : list.blocks) {
      give_back(std::find_if(slabs_.begin(), slabs_.end(),
                             [block](const Slab& slab) { return slab.data == block; }),
                source);
    }
    list.made -= list.blocks.size();
    list.blocks.clear();
  }
}

void CachingAllocator::Lane::keep(bool kept) {
  const std::lock_guard lock(mutex_);
  kept_ = kept;
}

void CachingAllocator::Lane::add_to(AllocatorStats& stats) {
  const std::lock_guard lock(mutex_);
  stats.system_calls += stats_.system_calls;
  stats.bytes_reserved += stats_.bytes_reserved;
  stats.bytes_in_use += stats_.bytes_in_use;
  stats.peak_in_use += stats_.peak_in_use;
  stats.allocations += stats_.allocations;
}

struct CachingAllocator::Impl {
  std::unique_ptr<SlabSource> source;
  std::array<Lane, kLanes> lanes;
};

CachingAllocator::CachingAllocator(std::unique_ptr<SlabSource> source)
    : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
}

CachingAllocator::~CachingAllocator() {
  for (Lane& lane : impl_->lanes) lane.keep(false);
  trim();
}

CachingAllocator::Block CachingAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  // Sizes come from shapes, and shapes from files: a nonsensical one is an error, not an overflow.
  check<MemoryError>(bytes <= kLargest, "out of memory: no device holds ", bytes, " bytes");
  const int number = thread_state().lane % kLanes;
  Lane& lane = impl_->lanes[static_cast<std::size_t>(number)];
  const std::uint32_t size_class = class_of(bytes);
  Block block;
  try {
    block = lane.allocate(size_class, *impl_->source);
  } catch (const MemoryError&) {
    // Other lanes and classes may hold what is free: give it back, then ask once more.
    trim();
    block = lane.allocate(size_class, *impl_->source);
  }
  block.lane = number;
  impl_->source->handed_out(block.data, bytes);
  return block;
}

void CachingAllocator::deallocate(Block block) noexcept {
  if (block.data == nullptr) return;
  impl_->source->taken_back(block.data);
  impl_->lanes[static_cast<std::size_t>(block.lane)].deallocate(block);
}

void CachingAllocator::reserve(int count) {
  for (int lane = 0; lane < std::min(count, kLanes); ++lane) {
    impl_->lanes[static_cast<std::size_t>(lane)].reserve(*impl_->source);
  }
}

void CachingAllocator::keep(int lane) {
  impl_->lanes[static_cast<std::size_t>(lane % kLanes)].keep(true);
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats total;
  for (Lane& lane : impl_->lanes) lane.add_to(total);
  return total;
}

void CachingAllocator::trim() noexcept {
  for (Lane& lane : impl_->lanes) lane.trim(*impl_->source);
}

}  // namespace moiety

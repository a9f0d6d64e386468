// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "simt/emulator.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace simt {
namespace {

constexpr std::size_t kPage = 64 << 10;  // a multiple of the system's
// A slab of an allocator is filled piece by piece, when it is cut up.
constexpr std::size_t kLargestFilled = std::size_t{1} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// The entry that begins last at or before `key`, or end().
template <class Map>
auto last_before(const Map& map, const void* key) {
  const auto after = map.upper_bound(static_cast<const std::byte*>(key));
  return after == map.begin() ? map.end() : std::prev(after);
}

/// The entry that holds the whole range, or end().
template <class Map>
auto holder_of(const Map& map, const void* memory, std::size_t bytes) {
  const auto found = last_before(map, memory);
  if (found == map.end()) return found;
  const auto skip = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - found->first);
  const std::size_t size = found->second.bytes;
  return skip < size && bytes <= size - skip ? found : map.end();
}

void set_poisoned([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes,
                  [[maybe_unused]] bool poisoned) {
#if defined(__SANITIZE_ADDRESS__)
  if (poisoned) {
    __asan_poison_memory_region(memory, bytes);
  } else {
    __asan_unpoison_memory_region(memory, bytes);
  }
#endif
}

}  // namespace

void* reserve_pages(std::size_t bytes, bool accessible) {
  void* pages = mmap(nullptr, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

Memory& memory() {
  static Memory* const instance = new Memory;  // outlives whatever frees memory at the end
  return *instance;
}

Memory::Memory() : base_(static_cast<std::byte*>(reserve_pages(kBytes, false))) {
  mprotect(base_, kSharedWindow, PROT_READ | PROT_WRITE);
  set_poisoned(base_, kSharedWindow, true);
  if constexpr (kChecks) content_ = static_cast<Content*>(reserve_pages(kBytes, true));
}

void* Memory::allocate(std::size_t bytes) {
  const std::size_t limit = settings().memory_bytes;
  if (bytes > limit || in_use_ > limit - bytes) return nullptr;
  // The first gap that is wide enough, with an inaccessible page behind each allocation.
  const std::size_t span = whole_pages(bytes) + kPage;
  std::byte* data = base_ + kSharedWindow + kPage;
  for (const auto& [begin, allocation] : allocations_) {
    if (static_cast<std::size_t>(begin - data) >= span) break;
    data = const_cast<std::byte*>(begin) + whole_pages(allocation.bytes) + kPage;
  }
  if (offset_of(data) + span > kBytes) return nullptr;
  if (mprotect(data, whole_pages(bytes), PROT_READ | PROT_WRITE) != 0) return nullptr;
  allocations_[data] = {bytes, false, ++allocations_made_};
  in_use_ += bytes;
  set_poisoned(data + bytes, span - bytes, true);
  if (bytes <= kLargestFilled) mark(data, bytes, Content::undefined);
  return data;
}

bool Memory::release(void* memory) {
  const auto found = allocations_.find(static_cast<std::byte*>(memory));
  if (found == allocations_.end()) return false;
  auto* const data = static_cast<std::byte*>(memory);
  const std::size_t bytes = found->second.bytes;
  blocks_.erase(blocks_.lower_bound(data), blocks_.lower_bound(data + bytes));
  allocations_.erase(found);
  in_use_ -= bytes;
  set_poisoned(data, whole_pages(bytes) + kPage, false);
  if constexpr (kChecks) madvise(content_of(data), whole_pages(bytes), MADV_DONTNEED);
  madvise(data, whole_pages(bytes), MADV_DONTNEED);
  mprotect(data, whole_pages(bytes), PROT_NONE);
  return true;
}

void* Memory::allocate_pinned(std::size_t bytes) {
  void* data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (data != nullptr) pinned_[static_cast<std::byte*>(data)] = {bytes};
  return data;
}

bool Memory::release_pinned(void* memory) {
  if (pinned_.erase(static_cast<std::byte*>(memory)) == 0) return false;
  std::free(memory);
  return true;
}

bool Memory::is_pinned(const void* memory, std::size_t bytes) const {
  return holder_of(pinned_, memory, bytes) != pinned_.end();
}

void Memory::note(void* memory, std::size_t bytes) {
  const auto slab = allocation_of(memory);
  if (slab == allocations_.end()) return;
  Allocation& allocation = allocations_.at(slab->first);
  if (!allocation.cut_up) {
    allocation.cut_up = true;
    auto* const data = const_cast<std::byte*>(slab->first);
    set_poisoned(data, allocation.bytes, true);
    if constexpr (kChecks) madvise(content_of(data), whole_pages(allocation.bytes), MADV_DONTNEED);
  }
  blocks_[static_cast<std::byte*>(memory)] = {bytes, "block " + std::to_string(++blocks_made_)};
  mark(memory, bytes, Content::undefined);
}

void Memory::forget(void* memory) {
  const auto found = blocks_.find(static_cast<std::byte*>(memory));
  if (found == blocks_.end()) return;
  mark(memory, found->second.bytes, Content::outside);
  blocks_.erase(found);
}

bool Memory::is_noted(const void* memory) const {
  return blocks_.contains(static_cast<const std::byte*>(memory));
}

void* Memory::add_shared(std::size_t offset, std::size_t bytes, const char* name) {
  std::byte* const data = base_ + offset;
  shared_[data] = {bytes, "shared array " + std::string(name)};
  mark(data, bytes, Content::undefined);
  return data;
}

void Memory::clear_shared(std::size_t bytes) {
  if (shared_.empty()) return;
  shared_.clear();
  mark(base_, bytes, Content::outside);
}

Memory::Allocations::const_iterator Memory::allocation_of(const void* memory) const {
  return holder_of(allocations_, memory, 1);
}

bool Memory::is_allocated(const void* memory, std::size_t bytes) const {
  return holder_of(allocations_, memory, bytes) != allocations_.end();
}

std::string Memory::fault_of(const void* memory, std::size_t bytes) const {
  const auto slab = allocation_of(memory);
  const bool cut_up = slab != allocations_.end() && slab->second.cut_up;
  if (cut_up && holder_of(blocks_, memory, bytes) != blocks_.end()) return "";
  if (!cut_up && is_allocated(memory, bytes)) return "";
  return "out of bounds: a copy or fill of " + std::to_string(bytes) + " bytes from " +
         describe(memory);
}

bool Memory::is_undefined_only(const void* memory) const {
  const auto slab = allocation_of(memory);
  return slab != allocations_.end() && !slab->second.cut_up;
}

void Memory::mark(void* memory, std::size_t bytes, Content content) {
  set_poisoned(memory, bytes, content == Content::outside);
  if constexpr (kChecks) {
    std::memset(static_cast<void*>(content_of(memory)), static_cast<int>(content), bytes);
  }
  if (content == Content::undefined) std::memset(memory, 0xff, bytes);
}

void Memory::copy_content(void* to, const void* from, std::size_t bytes) {
  if constexpr (!kChecks) return;
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool defined = content_of(from)[i] == Content::defined;
    content_of(to)[i] = defined ? Content::defined : Content::undefined;
  }
}

std::string Memory::describe(const void* memory) const {
  const auto text = [memory](const std::byte* begin, std::size_t bytes, const std::string& name) {
    const auto skip = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - begin);
    const std::string whole = name + " (" + std::to_string(bytes) + " bytes)";
    if (skip < bytes) return "byte " + std::to_string(skip) + " of " + whole;
    return std::to_string(skip - bytes) + " bytes after the end of " + whole;
  };
  const auto& regions = is_shared(memory) ? shared_ : blocks_;
  const auto slab = last_before(allocations_, memory);
  const bool in_slab =
      slab != allocations_.end() && slab->second.cut_up && allocation_of(memory) == slab;
  if (is_shared(memory) || in_slab) {
    const auto region = last_before(regions, memory);
    if (region == regions.end() || (in_slab && region->first < slab->first)) {
      return "memory before the first " + std::string(in_slab ? "block" : "shared array");
    }
    return text(region->first, region->second.bytes, region->second.name);
  }
  if (slab == allocations_.end()) return "memory of no allocation";
  return text(slab->first, slab->second.bytes, "cudaMalloc " + std::to_string(slab->second.number));
}

}  // namespace simt

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace simt {

#if defined(MOIETY_SIMT_CHECK)
inline constexpr bool kChecks = true;
#else
inline constexpr bool kChecks = false;
#endif

/// What a byte of the emulated GPU holds, in the check build. In an allocation that is not cut up,
/// `outside` means undefined: large slabs need not be touched when they are made.
enum class Content : std::uint8_t { outside = 0, undefined = 1, defined = 2 };

/// The address space of the emulated GPU: one reserved range, of which the first part is a window
/// for the running block's shared memory, and the rest is handed out by cudaMalloc.
class Memory {
 public:
  /// Throws std::bad_alloc.
  Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Null when the emulated GPU has less than that left.
  void* allocate(std::size_t bytes);
  /// False for a pointer that allocate() did not return.
  bool release(void* memory);
  std::size_t bytes_in_use() const { return in_use_; }

  void* allocate_pinned(std::size_t bytes);
  bool release_pinned(void* memory);
  bool is_pinned(const void* memory, std::size_t bytes) const;

  /// See note_block() and forget_block().
  void note(void* memory, std::size_t bytes);
  void forget(void* memory);
  bool is_noted(const void* memory) const;

  /// Makes a shared array at the window's byte `offset`.
  void* add_shared(std::size_t offset, std::size_t bytes, const char* name);
  /// Ends all shared arrays; the block used the window's first `bytes`.
  void clear_shared(std::size_t bytes);

  /// The whole address space.
  bool contains(const void* memory) const { return offset_of(memory) < kBytes; }
  bool is_shared(const void* memory) const { return offset_of(memory) < kSharedWindow; }
  /// What is wrong with an access of the host to this range of device memory, or "".
  std::string fault_of(const void* memory, std::size_t bytes) const;
  /// Whether the range lies in one allocation.
  bool is_allocated(const void* memory, std::size_t bytes) const;

  /// Sets what the bytes hold; the undefined are filled with 0xff, which is NaN in all floats.
  void mark(void* memory, std::size_t bytes, Content content);
  /// Copies what the bytes hold.
  void copy_content(void* to, const void* from, std::size_t bytes);
  /// A record for each byte (check build only).
  Content* content_of(const void* memory) const { return content_ + offset_of(memory); }
  /// Whether an `outside` byte is undefined only.
  bool is_undefined_only(const void* memory) const;
  std::size_t offset_of(const void* memory) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - base_);
  }

  /// "byte 12 of shared array tile", "4 bytes after the end of block 7 (400 bytes)".
  std::string describe(const void* memory) const;

  static constexpr std::size_t kBytes = std::size_t{32} << 30;
  static constexpr std::size_t kSharedWindow = std::size_t{1} << 20;

 private:
  struct Allocation {
    std::size_t bytes;
    bool cut_up = false;
    std::size_t number;
  };
  struct Region {
    std::size_t bytes;
    std::string name;
  };
  struct Pinned {
    std::size_t bytes;
  };
  using Allocations = std::map<const std::byte*, Allocation>;

  Allocations::const_iterator allocation_of(const void* memory) const;

  std::byte* base_;
  Content* content_ = nullptr;
  std::size_t in_use_ = 0;
  std::size_t allocations_made_ = 0;
  std::size_t blocks_made_ = 0;
  Allocations allocations_;
  std::map<const std::byte*, Region> blocks_;
  std::map<const std::byte*, Region> shared_;
  std::map<const std::byte*, Pinned> pinned_;
};

Memory& memory();

/// Address space that takes memory only where it is touched.
void* reserve_pages(std::size_t bytes, bool accessible);

}  // namespace simt

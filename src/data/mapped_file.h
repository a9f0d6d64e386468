// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace moiety::data {

/// The bytes of a regular file for as long as this lives. Small files are read into memory: nothing
/// that happens to the file can then change or end the program. Large ones are mapped: pages are
/// read on first touch and dropped by the system when it needs memory.
class MappedFile {
 public:
  static constexpr std::int64_t kLargestCopy = std::int64_t{256} << 20;

  /// Files of more than `largest_copy` bytes are mapped. Throws UserError when the file is
  /// missing, not readable or not a regular file.
  explicit MappedFile(const std::string& path, std::int64_t largest_copy = kLargestCopy);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// True when bytes() is the file itself and changes with it.
  bool mapped() const { return mapped_; }

  /// Throws IoError when the file's size or time of change is not what it was when it was opened:
  /// a look past the end of a mapped file that shrank would end the program.
  void check_unchanged() const;

  /// Asks the system to read [offset, offset + bytes) soon. A hint: never fails.
  void prefetch(std::int64_t offset, std::int64_t bytes) const;

 private:
  void release() noexcept;

  std::string path_;
  int descriptor_ = -1;
  std::span<const std::byte> bytes_;
  std::int64_t changed_ns_ = 0;
  bool mapped_ = false;
};

}  // namespace moiety::data

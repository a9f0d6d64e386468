// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace moiety::nn {

/// A file that is written beside its place (path + ".tmp") and takes it in one rename: whatever
/// happens between, `path` holds the old content or the new one. A symbolic link stays, and what it
/// points to is replaced. An interrupted writer's leftover is overwritten by the next. Everything
/// throws IoError naming the path.
class AtomicFile {
 public:
  /// Throws UserError where a folder, a pipe or a device is in the way.
  explicit AtomicFile(const std::filesystem::path& path);
  /// Removes what was written unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Flushes the file to the disk, renames it, and flushes the folder.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  std::filesystem::path beside_;
  int descriptor_ = -1;
};

}  // namespace moiety::nn

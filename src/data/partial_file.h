// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace moiety::data {

/// The name under which a file is written before it takes its place in one rename: until then
/// what stood there stays. What a symbolic link points to is replaced, not the link.
class PartialFile {
 public:
  /// Throws UserError where a folder, a pipe or a device is in the way.
  explicit PartialFile(const std::filesystem::path& final_path);
  /// Removes what was written unless it was placed.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// To write to.
  const std::string& path() const { return path_; }

  /// Flushes the file, which is written and closed, to the disk and renames it. Throws IoError.
  void place();

 private:
  std::string final_;
  std::string path_;
  bool placed_ = false;
};

}  // namespace moiety::data

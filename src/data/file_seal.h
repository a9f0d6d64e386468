// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace moiety::data {

/// The seal fills the first bytes of a sealed file; HDF5 calls them the user block and skips them.
inline constexpr std::int64_t kSealBytes = 4096;

/// A named run of bytes of a file.
struct FileSection {
  std::string name;  ///< at most 31 characters
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool operator==(const FileSection&) const = default;
};

/// Writes the seal of a file of which [0, kSealBytes) is free: its size and a checksum of each
/// section. What lies between the named sections becomes sections named kBetweenSections, so that
/// every byte is covered. Throws IoError naming `path`.
void write_seal(const std::string& path, std::vector<FileSection> named);
inline constexpr const char* kBetweenSections = "HDF5 structure";

/// Checks every byte of a file against its seal and returns the sections in file order. Throws
/// IoError naming the file and the section: not sealed, of another version, cut short, damaged.
std::vector<FileSection> verify_seal(const MappedFile& file);

/// One number for all that a sealed file holds: files of other content have another one. Of a file
/// that verify_seal accepted.
std::uint64_t content_checksum(const MappedFile& file);

}  // namespace moiety::data

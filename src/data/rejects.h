// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "data/convert.h"
#include "data/partial_file.h"

namespace moiety::data {

/// Collects the rows that were left out in a table (source, line, id, smiles, reason) and counts
/// them by kind. It is written beside its place: an older one stays until finish().
class Rejects {
 public:
  explicit Rejects(std::filesystem::path path);

  /// Throws IoError when the file cannot be written.
  void add(const std::filesystem::path& source, const SourceRow& row, const Rejection& rejection);

  /// Puts the table in its place; where no row was left out, an older one is removed instead.
  void finish();

  std::int64_t count() const { return count_; }
  const std::map<std::string, std::int64_t>& by_kind() const { return by_kind_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  PartialFile partial_;
  std::ofstream file_;
  std::int64_t count_ = 0;
  std::map<std::string, std::int64_t> by_kind_;
};

}  // namespace moiety::data

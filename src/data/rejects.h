// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "data/convert.h"

namespace moiety::data {

/// Collects the rows that were left out in a table (source, line, id, smiles, reason) and counts
/// them by kind. The file is begun with the first of them: without any there is none.
class Rejects {
 public:
  /// Removes what an earlier run may have left under that name.
  explicit Rejects(std::filesystem::path path);

  /// Throws IoError when the file cannot be written.
  void add(const std::filesystem::path& source, const SourceRow& row, const Rejection& rejection);

  std::int64_t count() const { return count_; }
  const std::map<std::string, std::int64_t>& by_kind() const { return by_kind_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  std::int64_t count_ = 0;
  std::map<std::string, std::int64_t> by_kind_;
};

}  // namespace moiety::data

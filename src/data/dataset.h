// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset_info.h"
#include "data/molecule_record.h"
#include "data/molecule_view.h"

namespace moiety::data {

/// A data set, mapped into memory and checked as a whole when it is opened. Copies share the
/// mapping; any number of threads may read. Works on files larger than memory: the pages are the
/// system's to drop.
class Dataset {
 public:
  /// Throws IoError naming the file, the data set in it and what is wrong: missing, truncated,
  /// damaged, or not what the schema asks for.
  explicit Dataset(const std::string& path);

  const std::string& path() const { return info().path; }
  const DatasetInfo& info() const;
  /// Molecules.
  std::int64_t size() const { return info().molecules; }

  // Of one molecule. Each throws ShapeError when `molecule` is out of range.
  std::int64_t atoms(std::int64_t molecule) const;
  std::int64_t edges(std::int64_t molecule) const;
  /// [T] in the targets' own units; NaN = missing.
  std::span<const double> targets(std::int64_t molecule) const;
  MoleculeView view(std::int64_t molecule) const;
  /// A copy of all that was stored of it.
  MoleculeRecord record(std::int64_t molecule) const;

  /// The rows of a split, as they were given to the writer.
  std::span<const std::int64_t> split(Split split) const;

  /// SMILES and identifiers of the rows [begin, end). One thread at a time.
  std::vector<std::string> smiles(std::int64_t begin, std::int64_t end) const;
  std::vector<std::string> ids(std::int64_t begin, std::int64_t end) const;

  /// Asks the system to read these molecules' extents, sorted and coalesced, while the caller does
  /// something else. Worth a call on a file that does not fit into memory.
  void prefetch(std::span<const std::int64_t> molecules) const;

  /// Throws IoError when the file has changed on disk since it was opened.
  void check_unchanged() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset_info.h"
#include "data/mapped_file.h"
#include "data/molecule_record.h"
#include "data/molecule_view.h"

namespace moiety::data {

/// A data set, mapped into memory and checked as a whole when it is opened. Copies share the
/// mapping; any number of threads may read. Works on files larger than memory: the pages are the
/// system's to drop.
class Dataset {
 public:
  /// Throws UserError for a file that is missing or no data set, and IoError naming the file, the
  /// data set in it and what is wrong: truncated, damaged, or not what the schema asks for. A file
  /// of at most `most_in_memory` bytes is read as a whole; of a larger one only what is asked for,
  /// as long as it stays the same.
  explicit Dataset(const std::string& path, std::int64_t most_in_memory = MappedFile::kLargestCopy);

  const std::string& path() const { return info().path; }
  const DatasetInfo& info() const;
  /// Molecules.
  std::int64_t size() const { return info().molecules; }

  // Of one molecule. Each throws ShapeError when `molecule` is out of range, and UserError when
  // there are no graphs, or no tokens, to tell of.
  std::int64_t atoms(std::int64_t molecule) const;
  std::int64_t edges(std::int64_t molecule) const;
  /// Its ids, with the begin and end tokens that the tokenizer adds; at least one.
  std::span<const std::int32_t> tokens(std::int64_t molecule) const;
  /// [T] in the targets' own units; NaN = missing.
  std::span<const double> targets(std::int64_t molecule) const;
  MoleculeView view(std::int64_t molecule) const;
  /// A copy of all that was given to the writer; without a graph where there is none.
  MoleculeRecord record(std::int64_t molecule) const;

  /// The rows of a split, as they were given to the writer.
  std::span<const std::int64_t> split(Split split) const;

  /// SMILES and identifiers of the molecules, in their order. Read from the file: throws IoError
  /// when it was changed since it was opened.
  std::vector<std::string> smiles(std::span<const std::int64_t> molecules) const;
  std::vector<std::string> ids(std::span<const std::int64_t> molecules) const;

  /// Asks the system to read these molecules' extents, sorted and coalesced, while the caller does
  /// something else. Worth a call on a file that does not fit into memory.
  void prefetch(std::span<const std::int64_t> molecules) const;

  /// Throws IoError when the molecules may be others than those that were opened: the file is too
  /// large for memory and was changed in place.
  void check_unchanged() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace moiety::data

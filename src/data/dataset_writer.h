// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset_info.h"
#include "data/molecule_record.h"
#include "data/tokenizer.h"

namespace moiety::data {

struct DatasetWriterOptions {
  std::string path;                 ///< the finished file; its folder also holds the spools
  FeatureSchema features;           ///< without atom columns: no graphs, and add_tokens() is called
  std::vector<TargetSpec> targets;  ///< [T]; none for a data set to predict on
  bool positions = false;           ///< every molecule has coordinates
  std::string source;               ///< what the molecules come from
  std::string source_hash;          ///< of those files
};

/// Writes a data set of moiety's HDF5 schema. Molecules are spooled to unnamed files, so memory
/// stays bounded; finish() lays them out, seals the file and renames it into place. Until then
/// nothing stands under the final name, and the same input gives the same bytes.
class DatasetWriter {
 public:
  /// Throws UserError for a schema or target that cannot be stored.
  explicit DatasetWriter(DatasetWriterOptions options);
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  /// Appends a molecule as the next row. Throws UserError saying what is wrong with it (lengths,
  /// classes out of range, edges out of range or order), and then has appended nothing.
  void append(const MoleculeRecord& molecule);
  std::int64_t size() const;

  struct TokenTotals {
    std::int64_t tokens = 0;
    std::int64_t longest = 0;  ///< of one molecule
  };
  /// Turns the SMILES of all molecules into tokens, which are stored with the tokenizer; once,
  /// after the last append(). Throws UserError for a SMILES that cannot be encoded.
  TokenTotals add_tokens(const Tokenizer& tokenizer);

  /// Computes the statistics, writes the file and closes the writer. Throws UserError when the
  /// splits overlap or are out of range or there are neither graphs nor tokens, IoError when the
  /// file cannot be written.
  void finish(const SplitIndices& splits);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/molecule_record.h"

namespace moiety::data {

enum class Split : std::uint8_t { train, valid, test };

/// "train", "valid" or "test".
std::string name_of(Split split);
/// Throws UserError for another name.
Split parse_split(const std::string& name);

/// Rows of the data set in each split: disjoint, in any order, not necessarily all rows.
struct SplitIndices {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> valid;
  std::vector<std::int64_t> test;
};

/// What a data set holds: all that `moiety inspect` prints and a model needs to be built.
struct DatasetInfo {
  std::string path;
  std::string schema;  ///< "moiety-graphs"
  std::int64_t schema_version = 0;
  std::int64_t file_bytes = 0;
  std::uint64_t checksum = 0;  ///< of all content: splits, targets, units and features as well
  std::int64_t molecules = 0;
  std::int64_t atoms = 0;
  std::int64_t edges = 0;  ///< directed: each bond twice
  std::int64_t min_atoms = 0;
  std::int64_t max_atoms = 0;
  double mean_atoms = 0;
  bool has_graphs = true;  ///< else there are tokens alone
  bool has_positions = false;
  bool has_tokens = false;
  std::string tokenizer;            ///< JSON, as tokenizer_json() writes it; "" without tokens
  std::int64_t vocabulary = 0;      ///< tokens that the tokenizer has
  std::int64_t tokens = 0;          ///< of all molecules, begin and end counted
  std::int64_t longest_tokens = 0;  ///< of one molecule
  FeatureSchema features;
  std::vector<TargetSpec> targets;
  std::vector<double> target_mean;             ///< [T] of the train split without NaN; else 0
  std::vector<double> target_sd;               ///< [T] population sd likewise; 1 where it is 0
  std::vector<std::int64_t> degree_histogram;  ///< [d] atoms with d incoming edges
  std::int64_t train = 0;                      ///< molecules in each split
  std::int64_t valid = 0;
  std::int64_t test = 0;
  std::string source;       ///< what it was prepared from
  std::string source_hash;  ///< of those files, as given by the caller
};

}  // namespace moiety::data

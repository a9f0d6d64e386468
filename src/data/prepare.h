// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/molecule_record.h"
#include "data/prepare_tokens.h"
#include "data/row_source.h"
#include "data/split.h"

namespace moiety::data {

/// How the molecules are divided into train, valid and test.
struct SplitPlan {
  enum class Kind : std::uint8_t { random, scaffold, column, file };
  Kind kind = Kind::random;
  std::filesystem::path file;  ///< for Kind::file, see read_split_file
  SplitFractions fractions;    ///< for random and scaffold
  std::uint64_t seed = 0;      ///< for random
};

struct PrepareOptions {
  std::vector<std::filesystem::path> sources;  ///< read one after the other
  std::filesystem::path output;
  std::vector<TargetSpec> targets;  ///< none for a data set to predict on
  std::string smiles_column;        ///< "" guesses it
  std::string id_column;            ///< "" for none
  std::string split_column;         ///< for Kind::column
  char delimiter = 0;               ///< 0 detects it, in each source
  SplitPlan split;
  bool graphs = true;  ///< store the molecules' graphs
  TokenPlan tokens;    ///< and their SMILES as tokens
  int threads = 1;
  bool overwrite = false;
};

struct PrepareProgress {
  std::int64_t bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t molecules = 0;
  std::int64_t rejected = 0;
};

struct PrepareReport {
  std::int64_t rows = 0;
  std::int64_t molecules = 0;
  std::int64_t duplicates = 0;  ///< molecules that an earlier row holds as well; they are kept
  std::int64_t rejected = 0;
  std::map<std::string, std::int64_t> rejected_by_kind;
  std::filesystem::path rejects_file;  ///< written when rejected > 0: "<output>.rejects.csv"
  std::int64_t train = 0;
  std::int64_t valid = 0;
  std::int64_t test = 0;
  std::int64_t test_in_train = 0;  ///< molecules of test that train holds as well
  TokenReport tokens;
};

/// Converts molecules into a data set. Rows that cannot be used are listed in the rejects file and
/// cost nothing else. The file has the same bytes for any number of threads, and holds rows in the
/// order of the sources. Memory is bounded but for a few bytes a molecule.
///
/// Throws UserError when options and sources do not fit, the output exists, or no row is usable;
/// IoError when a file cannot be read or written. Until all is done nothing stands under the
/// output's name.
PrepareReport prepare(const PrepareOptions& options,
                      const std::function<void(const PrepareProgress&)>& progress = {});

}  // namespace moiety::data

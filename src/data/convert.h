// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset_info.h"
#include "data/molecule_record.h"
#include "data/row_source.h"
#include "data/tokenizer.h"

namespace moiety::data {

/// Why a row was left out: a few words for counting, and the whole reason in one line.
struct Rejection {
  std::string kind;
  std::string reason;
};

/// What a row became: a molecule, or the reason why not.
struct ConvertedRow {
  std::optional<MoleculeRecord> molecule;
  Rejection rejection;
  std::uint64_t fingerprint = 0;     ///< equal for the same molecule, however it was written
  std::string scaffold;              ///< when asked for
  std::optional<Split> split;        ///< label of the split column, when there is one
  std::vector<std::string> unknown;  ///< what the tokenizer does not know of the SMILES
  std::string random_smiles;         ///< of the same molecule, when words are learned
};

struct ConvertOptions {
  std::span<const TargetSpec> targets;  ///< [T]
  bool scaffold = false;
  bool split_column = false;
  bool graphs = true;                    ///< else the record has none
  const Tokenizer* tokenizer = nullptr;  ///< that the SMILES must suit, when there is one
  bool learn_words = false;              ///< of the SMILES, which must consist of such
};

/// Turns one row into a molecule with its targets. A target that is missing is NaN; a row is
/// rejected when it cannot be read, a cell is no number or no class (0 or 1), nothing is known of
/// it (multilabel tasks excepted), its SMILES is no molecule or cannot be cut into tokens, or the
/// tokenizer has none for a part of it, not even an unknown one. Any number of threads may call it.
ConvertedRow convert_row(const SourceRow& row, const ConvertOptions& options);

}  // namespace moiety::data

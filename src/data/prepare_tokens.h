// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/convert.h"
#include "data/dataset_writer.h"
#include "data/row_source.h"
#include "data/tokenizer.h"
#include "data/word_tokenizer.h"

namespace moiety::data {

/// Which tokens of its molecules a data set holds.
struct TokenPlan {
  bool wanted = false;
  std::filesystem::path tokenizer;  ///< a folder, see load_tokenizer(); "": learn words of SMILES
  std::vector<TokenRole> roles;     ///< that the tokenizer must have a token for
};

/// What came of it.
struct TokenReport {
  bool learned = false;                ///< the vocabulary is from these very molecules
  std::vector<std::string> words;      ///< then: what was found, the most frequent first
  std::int64_t vocabulary = 0;         ///< special tokens counted
  std::int64_t tokens = 0;             ///< of all molecules, begin and end counted
  std::int64_t longest = 0;            ///< of one molecule
  std::int64_t unknown_molecules = 0;  ///< with a part that became the unknown token
  std::string first_unknown;           ///< "table.csv:12: 'Si'"
};

/// The tokenizer's way through a preparation. Words are learned of the SMILES and of one random
/// SMILES of each molecule, so that random SMILES in training rarely meet unknown ones.
class TokenPreparation {
 public:
  /// Throws UserError naming the folder where it holds no tokenizer or lacks a role.
  explicit TokenPreparation(const TokenPlan& plan);

  /// What each SMILES must suit; null where none is wanted or words are learned.
  const Tokenizer* tokenizer() const { return tokenizer_.get(); }
  bool learns() const { return report_.learned; }
  /// A row that became a molecule.
  void take(const std::filesystem::path& source, const SourceRow& row, const ConvertedRow& row_as);
  /// Adds the tokens of all molecules to the writer, where they are wanted.
  TokenReport finish(DatasetWriter& writer);

 private:
  bool wanted_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  SmilesVocabulary words_;
  TokenReport report_;
};

}  // namespace moiety::data

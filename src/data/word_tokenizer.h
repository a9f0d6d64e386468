// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizer.h"

namespace moiety::data {

/// One id for each token of a SMILES as smiles_tokens() cuts it, as DeepChem's SmilesTokenizer: the
/// vocabulary is vocab.txt, a token a line, the template [CLS] ... [SEP].
class WordTokenizer : public Tokenizer {
 public:
  explicit WordTokenizer(TokenVocabulary vocabulary) : Tokenizer(std::move(vocabulary)) {}

  /// Writes vocab.txt, and tokenizer.json and tokenizer_config.json for HuggingFace.
  void save(const std::filesystem::path& folder) const override;
  Kind kind() const override { return Kind::words; }

 protected:
  void encode_from(std::string_view text, std::size_t at, Encoded& out) const override;
  std::string text_of(std::int32_t id) const override { return vocabulary().token(id); }
};

/// Reads vocab.txt and the special tokens beside it. Throws IoError naming the file and line or
/// key.
std::unique_ptr<WordTokenizer> load_word_tokenizer(const std::filesystem::path& folder);

/// Collects the tokens of SMILES for a vocabulary.
class SmilesVocabulary {
 public:
  struct Limits {
    std::int64_t size = 0;           ///< tokens at most, the special ones counted; 0 for all
    std::int64_t min_frequency = 1;  ///< rarer tokens are left out
  };

  /// Throws UserError naming the first character that begins no token.
  void add(std::string_view smiles);
  /// What was added, the most frequent first and ties in the order of their bytes.
  std::vector<std::string> words() const;
  /// DeepChem's special and unused tokens, then words(). Throws UserError for a size that has no
  /// room for a token.
  std::unique_ptr<WordTokenizer> train(const Limits& limits) const;

 private:
  using Word = std::pair<std::string, std::int64_t>;
  std::vector<Word> by_frequency() const;

  std::map<std::string, std::int64_t, std::less<>> counts_;
};

}  // namespace moiety::data

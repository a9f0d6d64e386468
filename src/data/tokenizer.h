// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/added_tokens.h"
#include "data/bpe_merges.h"
#include "data/token_vocabulary.h"

namespace moiety::data {

/// A text as ids.
struct Encoded {
  std::vector<std::int32_t> ids;     ///< [T], the begin and end tokens at either side
  std::vector<std::string> unknown;  ///< what the vocabulary lacks: each has the unknown token's id
};

/// Turns texts into ids of a vocabulary and back. A text may spell the mask token and the added
/// tokens; where it spells a pad, begin, end or unknown token, those are characters like any other,
/// so that a text without unknown tokens comes back as it was. Constant: any number of threads may
/// use one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Throws UserError where the text cannot be cut into tokens, or where the vocabulary lacks one
  /// and has no unknown token.
  Encoded encode(std::string_view text) const;
  /// The text of the ids. Pad, begin and end tokens leave nothing; mask and unknown tokens show.
  /// Throws UserError for an id that the vocabulary does not have.
  std::string decode(std::span<const std::int32_t> ids) const;

  const TokenVocabulary& vocabulary() const { return vocabulary_; }

  enum class Kind : std::uint8_t { words, byte_bpe };
  virtual Kind kind() const = 0;
  /// The merges of a byte-level BPE, the earlier the stronger; words have none.
  virtual std::span<const BpeMerges::Merge> merges() const { return {}; }

  /// Writes the files that load_tokenizer() and HuggingFace's AutoTokenizer read, into a folder
  /// that is made where there is none. Throws IoError.
  virtual void save(const std::filesystem::path& folder) const = 0;

 protected:
  explicit Tokenizer(TokenVocabulary vocabulary);

  /// Appends the ids of text[at..], which holds no added token. What stands before `at` is there
  /// for messages alone.
  virtual void encode_from(std::string_view text, std::size_t at, Encoded& out) const = 0;
  /// What a token that is neither special nor added stands for.
  virtual std::string text_of(std::int32_t id) const = 0;

  /// Appends the unknown token in the place of what stands at text[at]. Throws UserError where
  /// there is no unknown token.
  void add_unknown(std::string_view text, std::size_t at, std::size_t length, Encoded& out) const;

 private:
  TokenVocabulary vocabulary_;
  AddedTokens added_;
};

/// Reads a folder in HuggingFace's layout: vocab.json and merges.txt (byte-level BPE, as RoBERTa
/// and ChemBERTa have), vocab.txt (words, as DeepChem's SmilesTokenizer has), or a tokenizer.json
/// of either kind, and the special tokens of tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json. Throws UserError where the folder is missing or holds none of them, and
/// IoError naming the file and its line or key.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

/// Why decoding does not give the text back, "" when it does.
std::string round_trip_problem(const Tokenizer& tokenizer, std::string_view text,
                               const Encoded& encoded);

}  // namespace moiety::data

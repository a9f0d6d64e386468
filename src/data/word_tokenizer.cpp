// SPDX-License-Identifier: Apache-2.0
#include "data/word_tokenizer.h"

#include <algorithm>
#include <vector>

#include "data/smiles_tokens.h"
#include "data/tokenizer_files.h"
#include "data/tokenizer_json.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

constexpr int kUnusedTokens = 10;

std::int32_t add_or_throw(TokenVocabulary& vocabulary, const std::string& token) {
  const auto id = vocabulary.add(token);
  MOIETY_CHECK(id.has_value(), token);
  return *id;
}

/// The first 15 tokens of the vocabularies of DeepChem and ChemBERTa.
TokenVocabulary deepchem_special_tokens() {
  TokenVocabulary vocabulary;
  vocabulary.set_role(TokenRole::pad, add_or_throw(vocabulary, "[PAD]"));
  for (int i = 1; i <= kUnusedTokens; ++i) {
    add_or_throw(vocabulary, concat("[unused", i, "]"));
  }
  vocabulary.set_role(TokenRole::unknown, add_or_throw(vocabulary, "[UNK]"));
  vocabulary.set_role(TokenRole::begin, add_or_throw(vocabulary, "[CLS]"));
  vocabulary.set_role(TokenRole::end, add_or_throw(vocabulary, "[SEP]"));
  vocabulary.set_role(TokenRole::mask, add_or_throw(vocabulary, "[MASK]"));
  return vocabulary;
}

}  // namespace

void WordTokenizer::encode_from(std::string_view text, std::size_t at, Encoded& out) const {
  for (const std::string_view token : smiles_tokens(text, at)) {
    const auto id = vocabulary().find(token);
    if (id && !vocabulary().is_control(*id)) {
      out.ids.push_back(*id);
    } else {
      add_unknown(text, static_cast<std::size_t>(token.data() - text.data()), token.size(), out);
    }
  }
}

void WordTokenizer::save(const std::filesystem::path& folder) const {
  std::string words;
  for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
    words += vocabulary().token(id) + "\n";
  }
  clear_tokenizer_folder(folder);
  write_tokenizer_file(folder / "vocab.txt", words);
  write_word_tokenizer_json(folder, vocabulary());
  write_tokenizer_config(folder, "PreTrainedTokenizerFast", vocabulary());
}

std::unique_ptr<WordTokenizer> load_word_tokenizer(const std::filesystem::path& folder) {
  TokenVocabulary vocabulary = read_vocab_txt(folder / "vocab.txt");
  read_special_tokens(folder, vocabulary);
  return std::make_unique<WordTokenizer>(std::move(vocabulary));
}

void SmilesVocabulary::add(std::string_view smiles) {
  for (const std::string_view token : smiles_tokens(smiles)) {
    const auto found = counts_.find(token);
    if (found == counts_.end()) {
      counts_.emplace(token, 1);
    } else {
      ++found->second;
    }
  }
}

std::vector<SmilesVocabulary::Word> SmilesVocabulary::by_frequency() const {
  std::vector<Word> words(counts_.begin(), counts_.end());
  std::ranges::stable_sort(words, [](const Word& a, const Word& b) { return a.second > b.second; });
  return words;
}

std::vector<std::string> SmilesVocabulary::words() const {
  std::vector<std::string> out;
  for (auto& [word, count] : by_frequency()) out.push_back(word);
  return out;
}

std::unique_ptr<WordTokenizer> SmilesVocabulary::train(const Limits& limits) const {
  TokenVocabulary vocabulary = deepchem_special_tokens();
  check<UserError>(limits.size == 0 || limits.size > vocabulary.size(), "a vocabulary of ",
                   limits.size, " has no room for a token beside its ", vocabulary.size(),
                   " special ones");
  for (const auto& [token, count] : by_frequency()) {
    if (limits.size > 0 && vocabulary.size() >= limits.size) break;
    if (count >= limits.min_frequency) vocabulary.add(token);
  }
  return std::make_unique<WordTokenizer>(std::move(vocabulary));
}

}  // namespace moiety::data

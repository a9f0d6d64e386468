// SPDX-License-Identifier: Apache-2.0
#include "data/byte_bpe_tokenizer.h"

#include <utility>
#include <vector>

#include "data/byte_level.h"
#include "data/tokenizer_files.h"

namespace moiety::data {

ByteBpeTokenizer::ByteBpeTokenizer(TokenVocabulary vocabulary, const BpeMerges& merges)
    : Tokenizer(std::move(vocabulary)) {
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto id = this->vocabulary().find(byte_symbol(static_cast<unsigned char>(byte)));
    if (id && stands_for_bytes(*id)) byte_ids_[byte] = id;
  }
  for (const BpeMerges::Merge& merge : merges.list()) {
    if (stands_for_bytes(merge.result)) merges_.add(merge.pair, merge.result);
  }
}

bool ByteBpeTokenizer::stands_for_bytes(std::int32_t id) const {
  if (vocabulary().is_control(id)) return false;
  const std::string& token = vocabulary().token(id);
  const bool as_written = vocabulary().is_added(id) || vocabulary().id(TokenRole::mask) == id;
  return !as_written || symbol_bytes(token) == token;
}

void ByteBpeTokenizer::encode_from(std::string_view text, std::size_t at, Encoded& out) const {
  for (const std::string_view piece : gpt2_pieces(text.substr(at))) {
    encode_piece(text, at, at + piece.size(), out);
    at += piece.size();
  }
}

void ByteBpeTokenizer::encode_piece(std::string_view text, std::size_t at, std::size_t end,
                                    Encoded& out) const {
  std::vector<std::int32_t> tokens;
  tokens.reserve(end - at);
  const auto flush = [&] {
    merges_.apply(tokens);
    out.ids.insert(out.ids.end(), tokens.begin(), tokens.end());
    tokens.clear();
  };
  for (; at < end; ++at) {
    if (const auto id = byte_ids_[static_cast<unsigned char>(text[at])]) {
      tokens.push_back(*id);
    } else {
      flush();
      add_unknown(text, at, 1, out);
    }
  }
  flush();
}

std::string ByteBpeTokenizer::text_of(std::int32_t id) const {
  const std::string& token = vocabulary().token(id);
  return symbol_bytes(token).value_or(token);
}

void ByteBpeTokenizer::save(const std::filesystem::path& folder) const {
  std::string merges = "#version: 0.2\n";
  for (const BpeMerges::Merge& merge : merges_.list()) {
    merges +=
        vocabulary().token(merge.pair.first) + " " + vocabulary().token(merge.pair.second) + "\n";
  }
  clear_tokenizer_folder(folder);
  write_tokenizer_file(folder / "vocab.json", vocabulary_json(vocabulary()));
  write_tokenizer_file(folder / "merges.txt", merges);
  write_tokenizer_config(folder, "RobertaTokenizer", vocabulary());
}

std::unique_ptr<ByteBpeTokenizer> load_byte_bpe_tokenizer(const std::filesystem::path& folder) {
  TokenVocabulary vocabulary = read_vocab_json(folder / "vocab.json");
  const BpeMerges merges = read_merges(folder / "merges.txt", vocabulary);
  read_special_tokens(folder, vocabulary);
  return std::make_unique<ByteBpeTokenizer>(std::move(vocabulary), merges);
}

}  // namespace moiety::data

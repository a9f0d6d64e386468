// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer.h"

#include <utility>

#include "data/byte_bpe_tokenizer.h"
#include "data/text.h"
#include "data/tokenizer_json.h"
#include "data/utf8.h"
#include "data/word_tokenizer.h"
#include "tensor/error.h"

namespace moiety::data {

Tokenizer::Tokenizer(TokenVocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)), added_(vocabulary_) {}

Encoded Tokenizer::encode(std::string_view text) const {
  Encoded out;
  if (const auto begin = vocabulary_.id(TokenRole::begin)) out.ids.push_back(*begin);
  for (std::size_t at = 0; at < text.size();) {
    const auto added = added_.next(text, at);
    const std::size_t end = added ? added->at : text.size();
    if (end > at) encode_from(text.substr(0, end), at, out);
    if (added) out.ids.push_back(added->id);
    at = added ? end + added->length : end;
  }
  if (const auto end = vocabulary_.id(TokenRole::end)) out.ids.push_back(*end);
  return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  const auto unknown = vocabulary_.id(TokenRole::unknown);
  const auto mask = vocabulary_.id(TokenRole::mask);
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string& token = vocabulary_.token(id);
    if (id == unknown || id == mask) {
      text += token;
    } else if (!vocabulary_.is_control(id)) {
      text += vocabulary_.is_added(id) ? token : text_of(id);
    }
  }
  return text;
}

void Tokenizer::add_unknown(std::string_view text, std::size_t at, std::size_t length,
                            Encoded& out) const {
  const auto id = vocabulary_.id(TokenRole::unknown);
  check<UserError>(id.has_value(), describe_char(text, at),
                   ", is not in the vocabulary, which has no unknown token");
  out.ids.push_back(*id);
  out.unknown.emplace_back(text.substr(at, length));
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  check<UserError>(std::filesystem::is_directory(folder), folder.string(),
                   " is no folder; give the one that holds the tokenizer's files");
  const auto has = [&](const char* name) { return std::filesystem::exists(folder / name); };
  if (has("vocab.json")) return load_byte_bpe_tokenizer(folder);
  if (has("vocab.txt")) return load_word_tokenizer(folder);
  if (has("tokenizer.json")) return load_tokenizer_json(folder);
  throw UserError(concat(folder.string(),
                         " holds none of vocab.json with merges.txt, vocab.txt, tokenizer.json"));
}

std::string round_trip_problem(const Tokenizer& tokenizer, std::string_view text,
                               const Encoded& encoded) {
  if (!encoded.unknown.empty()) return "not in the vocabulary: " + quoted_list(encoded.unknown);
  const std::string back = tokenizer.decode(encoded.ids);
  return back == text ? "" : concat("comes back as '", back, "'");
}

}  // namespace moiety::data

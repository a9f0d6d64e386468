// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <vector>

#include "data/tokenizer_files.h"
#include "data/tokenizer_text.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using Json = nlohmann::json;

/// Refuses a key that an object has twice: the parser would keep the last one.
Json parse_flat_object(const std::string& name, const std::string& text) {
  std::unordered_set<std::string> keys;
  return parse_json(name, text, [&](int depth, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::key || depth != 1) return true;
    const bool fresh = keys.insert(value.get<std::string>()).second;
    check<IoError>(fresh, name, ": the token ", value.dump(), " occurs twice");
    return true;
  });
}

std::int64_t id_of(const std::string& name, const std::string& token, const Json& id,
                   std::size_t count) {
  const bool whole = id.is_number_unsigned();
  check<IoError>(whole && id.get<std::uint64_t>() < count, name, ": the token '", token,
                 "' has the id ", id.dump().substr(0, 40), "; there are ", count,
                 " tokens, so their ids must be 0 to ", count - 1, ", each once");
  return id.get<std::int64_t>();
}

}  // namespace

std::optional<std::pair<std::string, std::string>> two_tokens(std::string_view text) {
  const auto blank = text.find(' ');
  const bool two = blank != std::string_view::npos && blank > 0 && blank + 1 < text.size() &&
                   text.find(' ', blank + 1) == std::string_view::npos;
  if (!two) return std::nullopt;
  return std::pair(std::string(text.substr(0, blank)), std::string(text.substr(blank + 1)));
}

TokenVocabulary vocabulary_of(const std::string& name, const nlohmann::json& json) {
  check<IoError>(json.is_object() && !json.empty(), name,
                 " is not a vocabulary: an object of tokens with their ids");
  std::vector<const std::string*> tokens(json.size(), nullptr);
  for (const auto& [token, value] : json.items()) {
    const std::int64_t id = id_of(name, token, value, tokens.size());
    auto& place = tokens[static_cast<std::size_t>(id)];
    check<IoError>(place == nullptr, name, ": the tokens '", place ? *place : "", "' and '", token,
                   "' have the same id ", id);
    place = &token;
  }
  TokenVocabulary vocabulary;
  for (const std::string* token : tokens) vocabulary.add(*token);
  return vocabulary;
}

TokenVocabulary read_vocab_json(const std::filesystem::path& path) {
  const std::string name = path.string();
  return vocabulary_of(name, parse_flat_object(name, read_tokenizer_text(path)));
}

TokenVocabulary read_vocab_txt(const std::filesystem::path& path) {
  TokenVocabulary vocabulary;
  for_each_line(path, [&](std::string_view line, std::int64_t number) {
    const std::string place = concat(path.string(), ":", number);
    check<IoError>(!line.empty(), place, ": an empty line where a token should be");
    if (vocabulary.add(std::string(line))) return;
    throw IoError(concat(place, ": the token '", line, "' is on line ", *vocabulary.find(line) + 1,
                         " as well"));
  });
  check<IoError>(vocabulary.size() > 0, path.string(), " is empty");
  return vocabulary;
}

void add_merge(const std::string& place, const std::string& left, const std::string& right,
               const TokenVocabulary& vocabulary, BpeMerges& merges) {
  const auto id = [&](const std::string& token) {
    const auto found = vocabulary.find(token);
    check<IoError>(found.has_value(), place, ": the token '", token, "' is not in the vocabulary");
    return *found;
  };
  const TokenPair pair = {id(left), id(right)};
  check<IoError>(merges.add(pair, id(left + right)), place, ": this pair has been merged above");
}

BpeMerges read_merges(const std::filesystem::path& path, const TokenVocabulary& vocabulary) {
  BpeMerges merges;
  for_each_line(path, [&](std::string_view line, std::int64_t number) {
    if (line.starts_with("#version")) return;
    const std::string place = concat(path.string(), ":", number);
    const auto parts = two_tokens(line);
    check<IoError>(parts.has_value(), place, ": not two tokens with a blank between");
    add_merge(place, parts->first, parts->second, vocabulary, merges);
  });
  return merges;
}

}  // namespace moiety::data

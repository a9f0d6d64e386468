// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "data/byte_bpe_tokenizer.h"
#include "data/tokenizer_files.h"
#include "data/tokenizer_text.h"
#include "data/word_tokenizer.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using Json = nlohmann::json;

constexpr const char* kWords = "words";
constexpr const char* kByteBpe = "byte_bpe";

/// Reads the members of one text, naming those that are not what they should be.
class RecordReader {
 public:
  RecordReader(const std::string& text, const std::string& name) : name_(name) {
    check<IoError>(text.size() <= kLargestTokenizerFile, name, " has ", text.size(),
                   " bytes, more than the ", kLargestTokenizerFile, " of any tokenizer");
    record_ = parse_json(name, text);
    check<IoError>(record_.is_object(), name, " is not a JSON object");
  }

  std::string kind() const {
    const Json kind = record_.value("kind", Json());
    check<IoError>(kind == kWords || kind == kByteBpe, name_, ": kind is ",
                   kind.dump().substr(0, 40), ", neither ", kWords, " nor ", kByteBpe);
    return kind.get<std::string>();
  }

  TokenVocabulary vocabulary() const {
    TokenVocabulary out;
    for (const Json& token : list("tokens")) {
      check<IoError>(token.is_string() && out.add(token.get<std::string>()), name_, ": tokens[",
                     out.size(), "] is not a text, or occurs twice");
    }
    check<IoError>(out.size() > 0, name_, ": there are no tokens");
    const Json roles = record_.value("roles", Json::object());
    check<IoError>(roles.is_object(), name_, ": roles is not an object");
    for (const auto& [key, value] : roles.items()) {
      const auto role = std::ranges::find(kTokenRoles, std::string_view(key),
                                          [](TokenRole r) { return name_of(r); });
      check<IoError>(role != kTokenRoles.end(), name_, ": roles.", key, " is not known");
      out.set_role(*role, id(value, "roles." + key, out));
    }
    for (const Json& value : list("added")) out.set_added(id(value, "added", out));
    return out;
  }

  BpeMerges merges(const TokenVocabulary& vocabulary) const {
    BpeMerges out;
    for (const Json& pair : list("merges")) {
      const std::string place = concat("merges[", out.list().size(), "]");
      check<IoError>(pair.is_array() && pair.size() == 2, name_, ": ", place,
                     " is not a pair of ids");
      add_merge(concat(name_, ": ", place), vocabulary.token(id(pair[0], place, vocabulary)),
                vocabulary.token(id(pair[1], place, vocabulary)), vocabulary, out);
    }
    return out;
  }

 private:
  Json list(const char* key) const {
    Json found = record_.value(key, Json::array());
    check<IoError>(found.is_array(), name_, ": ", key, " is not a list");
    return found;
  }

  std::int32_t id(const Json& value, const std::string& place,
                  const TokenVocabulary& vocabulary) const {
    const auto size = static_cast<std::uint64_t>(vocabulary.size());
    check<IoError>(value.is_number_unsigned() && value.get<std::uint64_t>() < size, name_, ": ",
                   place, ": ", value.dump().substr(0, 40), " is not the id of one of ", size,
                   " tokens");
    return value.get<std::int32_t>();
  }

  const std::string& name_;
  Json record_;
};

}  // namespace

std::string tokenizer_json(const Tokenizer& tokenizer) {
  const TokenVocabulary& vocabulary = tokenizer.vocabulary();
  Json tokens = Json::array();
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) tokens.push_back(vocabulary.token(id));
  Json roles = Json::object();
  for (const TokenRole role : kTokenRoles) {
    if (const auto id = vocabulary.id(role)) roles[std::string(name_of(role))] = *id;
  }
  // Whether a special token is listed as added as well, as files do, changes nothing.
  Json added = Json::array();
  for (const std::int32_t id : vocabulary.added()) {
    if (std::ranges::none_of(roles, [&](const Json& role) { return role == id; })) {
      added.push_back(id);
    }
  }
  Json merges = Json::array();
  for (const BpeMerges::Merge& merge : tokenizer.merges()) {
    merges.push_back({merge.pair.first, merge.pair.second});
  }
  const bool words = tokenizer.kind() == Tokenizer::Kind::words;
  const nlohmann::ordered_json record = {{"kind", words ? kWords : kByteBpe},
                                         {"tokens", tokens},
                                         {"roles", roles},
                                         {"added", added},
                                         {"merges", merges}};
  return record.dump();
}

std::unique_ptr<Tokenizer> tokenizer_from_json(const std::string& text, const std::string& name) {
  const RecordReader reader(text, name);
  const std::string kind = reader.kind();
  TokenVocabulary vocabulary = reader.vocabulary();
  const BpeMerges merges = reader.merges(vocabulary);
  if (kind == kByteBpe) return std::make_unique<ByteBpeTokenizer>(std::move(vocabulary), merges);
  check<IoError>(merges.list().empty(), name, ": merges of words");
  return std::make_unique<WordTokenizer>(std::move(vocabulary));
}

std::unique_ptr<Tokenizer> load_tokenizer_of(const Dataset& dataset) {
  check<UserError>(dataset.info().has_tokens, dataset.path(),
                   ": holds no tokens; make it with `moiety prepare --tokenizer` or --task mlm");
  return tokenizer_from_json(dataset.info().tokenizer, dataset.path());
}

}  // namespace moiety::data

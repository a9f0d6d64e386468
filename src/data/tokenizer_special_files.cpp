// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "data/text.h"
#include "data/tokenizer_files.h"
#include "data/tokenizer_text.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using Json = nlohmann::json;

struct RoleNames {
  TokenRole role;
  std::array<const char*, 2> keys;    ///< in HuggingFace's files, the stronger first
  std::array<const char*, 2> tokens;  ///< of RoBERTa and BERT
};

constexpr std::array<RoleNames, kTokenRoles.size()> kRoleNames = {{
    {TokenRole::begin, {"cls_token", "bos_token"}, {"<s>", "[CLS]"}},
    {TokenRole::end, {"sep_token", "eos_token"}, {"</s>", "[SEP]"}},
    {TokenRole::pad, {"pad_token", "pad_token"}, {"<pad>", "[PAD]"}},
    {TokenRole::unknown, {"unk_token", "unk_token"}, {"<unk>", "[UNK]"}},
    {TokenRole::mask, {"mask_token", "mask_token"}, {"<mask>", "[MASK]"}},
}};

/// A file of JSON that need not be there.
struct OptionalJson {
  std::string name;
  Json content = Json::object();
};

OptionalJson read_optional(const std::filesystem::path& path) {
  OptionalJson file{path.string()};
  if (!std::filesystem::exists(path)) return file;
  file.content = parse_json(file.name, read_tokenizer_text(path));
  check<IoError>(file.content.is_object(), file.name, " is not a JSON object");
  return file;
}

/// The text of a token, which HuggingFace writes as such or as an object with settings.
std::string token_text(const OptionalJson& file, const std::string& key, const Json& value) {
  const Json& text = value.is_object() && value.contains("content") ? value["content"] : value;
  check<IoError>(text.is_string() && !text.get_ref<const std::string&>().empty(), file.name, ": ",
                 key, " is not a token: a text or an object with content");
  return text.get<std::string>();
}

/// Tokens that are added to the vocabulary, by id, and what named them.
class Additions {
 public:
  void add(const OptionalJson& file, const std::string& key, const Json& id, std::string token) {
    check<IoError>(id.is_number_unsigned() && id.get<std::uint64_t>() < kLargestTokenizerFile,
                   file.name, ": ", key, ": the id ", id.dump().substr(0, 40),
                   " is not a whole number of a token");
    const auto [place, fresh] = tokens_.emplace(id.get<std::int32_t>(), Addition{token, file.name});
    check<IoError>(fresh || place->second.token == token, file.name, ": '", place->second.token,
                   "' and '", token, "' are both added with the id ", place->first);
  }

  void apply(TokenVocabulary& vocabulary) const {
    for (const auto& [id, addition] : tokens_) {
      const auto known = vocabulary.find(addition.token);
      if (!known && id == vocabulary.size()) {
        vocabulary.add(addition.token);
      } else {
        check<IoError>(known == id, addition.file, ": '", addition.token, "' is added with the id ",
                       id,
                       known ? concat(", but has the id ", *known)
                             : concat("; the next free one is ", vocabulary.size()));
      }
      vocabulary.set_added(id);
    }
  }

 private:
  struct Addition {
    std::string token;
    std::string file;
  };
  std::map<std::int32_t, Addition> tokens_;
};

/// Those of tokenizer.json: a list of objects with content and id.
void collect_listed(const OptionalJson& file, Additions& out) {
  const Json list = file.content.value("added_tokens", Json::array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string key = concat("added_tokens[", i, "]");
    const bool object = list.is_array() && list[i].is_object() && list[i].contains("id");
    check<IoError>(object, file.name, ": ", key, " is not a token with an id");
    out.add(file, key, list[i]["id"], token_text(file, key, list[i]));
  }
}

void collect_added(const OptionalJson& added, const OptionalJson& config, Additions& out) {
  for (const auto& [token, id] : added.content.items())
    out.add(added, "'" + token + "'", id, token);
  const auto decoder = config.content.find("added_tokens_decoder");
  if (decoder == config.content.end()) return;
  check<IoError>(decoder->is_object(), config.name, ": added_tokens_decoder is not an object");
  for (const auto& [text, token] : decoder->items()) {
    const std::string key = "added_tokens_decoder." + text;
    const auto id = parse_number(text);
    const bool whole = id && *id >= 0 && text.find_first_not_of("0123456789") == std::string::npos;
    check<IoError>(whole && *id < kLargestTokenizerFile, config.name, ": ", key,
                   " is not named by an id");
    out.add(config, key, static_cast<std::uint64_t>(*id), token_text(config, key, token));
  }
}

/// The id of the token that the file gives the role, if it does.
std::optional<std::int32_t> named_id(const OptionalJson& file, const RoleNames& names,
                                     const TokenVocabulary& vocabulary) {
  for (const char* key : names.keys) {
    const auto value = file.content.find(key);
    if (value == file.content.end() || value->is_null()) continue;
    const std::string token = token_text(file, key, *value);
    const auto id = vocabulary.find(token);
    check<IoError>(id.has_value(), file.name, ": ", key, ": '", token,
                   "' is not in the vocabulary");
    return id;
  }
  return std::nullopt;
}

std::optional<std::int32_t> usual_id(const RoleNames& names, const TokenVocabulary& vocabulary) {
  for (const char* token : names.tokens) {
    if (const auto id = vocabulary.find(token)) return id;
  }
  return std::nullopt;
}

void check_settings(const OptionalJson& config) {
  const auto prefix = config.content.find("add_prefix_space");
  check<IoError>(prefix == config.content.end() || *prefix == Json(false) || prefix->is_null(),
                 config.name, ": add_prefix_space must be false: with a blank before it a text ",
                 "would not come back as it was");
}

}  // namespace

void read_special_tokens(const std::filesystem::path& folder, TokenVocabulary& vocabulary) {
  const OptionalJson added = read_optional(folder / "added_tokens.json");
  const OptionalJson config = read_optional(folder / "tokenizer_config.json");
  const OptionalJson map = read_optional(folder / "special_tokens_map.json");
  check_settings(config);
  Additions additions;
  collect_added(added, config, additions);
  collect_listed(read_optional(folder / "tokenizer.json"), additions);
  additions.apply(vocabulary);
  for (const RoleNames& names : kRoleNames) {
    auto id = named_id(config, names, vocabulary);
    if (!id) id = named_id(map, names, vocabulary);
    if (!id) id = usual_id(names, vocabulary);
    if (id) vocabulary.set_role(names.role, *id);
  }
}

nlohmann::ordered_json added_tokens_json(const TokenVocabulary& vocabulary) {
  std::map<std::int32_t, bool> special;
  for (const std::int32_t id : vocabulary.added()) special[id] = false;
  for (const TokenRole role : kTokenRoles) {
    if (const auto id = vocabulary.id(role)) special[*id] = true;
  }
  auto out = nlohmann::ordered_json::array();
  for (const auto& [id, is_special] : special) {
    out.push_back({{"id", id},
                   {"content", vocabulary.token(id)},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", is_special}});
  }
  return out;
}

void write_tokenizer_config(const std::filesystem::path& folder, const std::string& tokenizer_class,
                            const TokenVocabulary& vocabulary) {
  nlohmann::ordered_json config = {{"tokenizer_class", tokenizer_class}};
  for (const RoleNames& names : kRoleNames) {
    const auto id = vocabulary.id(names.role);
    for (const char* key : names.keys) {
      if (id) config[key] = vocabulary.token(*id);
    }
  }
  config["add_prefix_space"] = false;
  config["clean_up_tokenization_spaces"] = false;
  auto& decoder = config["added_tokens_decoder"] = nlohmann::ordered_json::object();
  for (nlohmann::ordered_json token : added_tokens_json(vocabulary)) {
    const std::string id = token["id"].dump();
    token.erase("id");
    decoder[id] = token;
  }
  write_tokenizer_file(folder / "tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace moiety::data

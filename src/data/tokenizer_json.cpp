// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "data/byte_bpe_tokenizer.h"
#include "data/tokenizer_files.h"
#include "data/tokenizer_text.h"
#include "data/word_tokenizer.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using Json = nlohmann::ordered_json;

/// smiles_tokens() as an expression, for HuggingFace's Split.
constexpr const char* kSmilesExpression =
    R"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|)"
    R"(%[0-9]{2}|[0-9])";

Json smiles_pre_tokenizer() {
  return {{"type", "Split"},
          {"pattern", {{"Regex", kSmilesExpression}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

/// [CLS] $A [SEP], and $B [SEP] behind it, of those that there are.
Json framing(const TokenVocabulary& vocabulary) {
  Json single = Json::array();
  Json special = Json::object();
  const auto add_special = [&](Json& list, TokenRole role, int type) {
    const auto id = vocabulary.id(role);
    if (!id) return;
    const std::string& token = vocabulary.token(*id);
    list.push_back({{"SpecialToken", {{"id", token}, {"type_id", type}}}});
    special[token] = {{"id", token}, {"ids", {*id}}, {"tokens", {token}}};
  };
  add_special(single, TokenRole::begin, 0);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  add_special(single, TokenRole::end, 0);
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  add_special(pair, TokenRole::end, 1);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", special}};
}

/// tokenizer.json up to its vocabulary, which goes last for being long.
Json description(const TokenVocabulary& vocabulary) {
  const auto unknown = vocabulary.id(TokenRole::unknown);
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens_json(vocabulary)},
          {"normalizer", nullptr},
          {"pre_tokenizer", smiles_pre_tokenizer()},
          {"post_processor", framing(vocabulary)},
          {"decoder", {{"type", "Fuse"}}},
          {"model",
           {{"type", "WordLevel"},
            {"vocab", nlohmann::json::parse(vocabulary_json(vocabulary))},
            {"unk_token", unknown ? vocabulary.token(*unknown) : "[UNK]"}}}};
}

/// Refuses what would cut texts in another way than the tokenizers here do.
void check_cutting(const std::string& name, const nlohmann::json& json, const std::string& type) {
  const auto cut = json.value("pre_tokenizer", nlohmann::json());
  const bool is_object = cut.is_object();
  const bool bytes = is_object && cut.value("type", nlohmann::json()) == "ByteLevel" &&
                     cut.value("use_regex", nlohmann::json(true)) == true &&
                     cut.value("add_prefix_space", nlohmann::json(true)) == false;
  const bool smiles = is_object && cut == nlohmann::json(smiles_pre_tokenizer());
  check<IoError>(json.value("normalizer", nlohmann::json()).is_null(), name,
                 ": normalizer must be null: a text would not come back as it was");
  check<IoError>(type == "BPE" ? bytes : smiles, name, ": pre_tokenizer must be ",
                 type == "BPE" ? "ByteLevel without add_prefix_space"
                               : "a Split by the expression of SMILES tokens");
}

BpeMerges read_merge_list(const std::string& name, const nlohmann::json& list,
                          const TokenVocabulary& vocabulary) {
  check<IoError>(list.is_array(), name, ": model.merges is not a list");
  BpeMerges merges;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = concat(name, ": model.merges[", i, "]");
    const auto& merge = list[i];
    std::optional<std::pair<std::string, std::string>> parts;
    if (merge.is_string()) parts = two_tokens(merge.get<std::string>());
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      parts = {merge[0].get<std::string>(), merge[1].get<std::string>()};
    }
    check<IoError>(parts.has_value(), place, " is not two tokens");
    add_merge(place, parts->first, parts->second, vocabulary, merges);
  }
  return merges;
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer_json(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer.json";
  const std::string name = path.string();
  const nlohmann::json json = parse_json(name, read_tokenizer_text(path));
  check<IoError>(json.is_object() && json.contains("model") && json["model"].is_object(), name,
                 " is not a tokenizer: an object with a model");
  const nlohmann::json& model = json["model"];
  const nlohmann::json type = model.value("type", nlohmann::json());
  check<IoError>(type == "BPE" || type == "WordLevel", name, ": model.type is ",
                 type.dump().substr(0, 40), ", neither BPE nor WordLevel");
  check_cutting(name, json, type);
  TokenVocabulary vocabulary =
      vocabulary_of(name + ": model.vocab", model.value("vocab", nlohmann::json()));
  BpeMerges merges;
  if (type == "BPE") {
    merges = read_merge_list(name, model.value("merges", nlohmann::json()), vocabulary);
  }
  read_special_tokens(folder, vocabulary);
  if (type == "BPE") return std::make_unique<ByteBpeTokenizer>(std::move(vocabulary), merges);
  return std::make_unique<WordTokenizer>(std::move(vocabulary));
}

void write_word_tokenizer_json(const std::filesystem::path& folder,
                               const TokenVocabulary& vocabulary) {
  write_tokenizer_file(folder / "tokenizer.json", description(vocabulary).dump(2) + "\n");
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "apps/huggingface_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "apps/json_file.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using nlohmann::json;
using nn::Activation;
using nn::TransformerConfig;

// The first name of each is the one that is written.
constexpr std::array<std::pair<std::string_view, Activation>, 7> kActivations = {
    {{"gelu", Activation::gelu},
     {"gelu_new", Activation::gelu_tanh},
     {"gelu_pytorch_tanh", Activation::gelu_tanh},
     {"relu", Activation::relu},
     {"silu", Activation::silu},
     {"swish", Activation::silu},
     {"tanh", Activation::tanh}}};

/// A value for a message.
std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  const std::string text = value.dump();
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// Typed access to the keys of one file.
class Keys {
 public:
  Keys(const json& values, const std::string& source) : values_(values), source_(source) {
    check<UserError>(values.is_object(), source, " is not a JSON object");
  }

  bool has(const char* key) const { return values_.contains(key) && !values_.at(key).is_null(); }

  std::int64_t integer(const char* key) const {
    check<UserError>(has(key), source_, ": ", key, " is missing");
    const json& value = values_.at(key);
    constexpr double kMost = 2147483647;
    check<UserError>(value.is_number_integer() && std::fabs(value.get<double>()) <= kMost, source_,
                     ": ", key, " must be a whole number below 2^31, not ", shown(value));
    return value.get<std::int64_t>();
  }
  std::int64_t integer(const char* key, std::int64_t otherwise) const {
    return has(key) ? integer(key) : otherwise;
  }
  double number(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    const json& value = values_.at(key);
    check<UserError>(value.is_number(), source_, ": ", key, " must be a number, not ",
                     shown(value));
    return value.get<double>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    if (!has(key)) return otherwise;
    const json& value = values_.at(key);
    check<UserError>(value.is_string(), source_, ": ", key, " must be a text, not ", shown(value));
    return value.get<std::string>();
  }
  std::optional<std::int64_t> token(const char* key) const {
    if (!has(key)) return std::nullopt;
    return integer(key);
  }

  Activation activation(const char* key, const char* otherwise) const {
    const std::string name = text(key, otherwise);
    std::string valid;
    for (const auto& [known, activation] : kActivations) {
      if (name == known) return activation;
      valid += (valid.empty() ? "" : ", ") + std::string(known);
    }
    throw UserError(
        concat(source_, ": ", key, " = \"", name, "\" is not known here, only ", valid));
  }
  /// Refuses another value than the only one that there is here.
  void require(const char* key, const json& only) const {
    check<UserError>(!has(key) || values_.at(key) == only, source_, ": ", key, " = ",
                     has(key) ? shown(values_.at(key)) : "", " is not supported, only ",
                     only.dump());
  }
  /// The name of the first class in "architectures".
  std::string architecture() const {
    if (!has("architectures")) return "";
    const json& names = values_.at("architectures");
    check<UserError>(names.is_array() && !names.empty() && names[0].is_string(), source_,
                     ": architectures must be a list of names");
    return names[0].get<std::string>();
  }
  /// Entries of an object; -1 where the key is missing.
  std::int64_t entries(const char* key) const {
    if (!has(key)) return -1;
    check<UserError>(values_.at(key).is_object(), source_, ": ", key, " must be an object");
    return static_cast<std::int64_t>(values_.at(key).size());
  }
  /// The names of so many outputs.
  std::vector<std::string> labels(std::int64_t count) const {
    std::vector<std::string> out;
    const json& names = has("id2label") ? values_.at("id2label") : json::object();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto name = names.find(std::to_string(i));
      const bool known = name != names.end() && name->is_string();
      out.push_back(known ? name->get<std::string>() : "LABEL_" + std::to_string(i));
    }
    return out;
  }
  const std::string& source() const { return source_; }

 private:
  const json& values_;
  const std::string& source_;
};

std::string_view name_of(Activation activation) {
  for (const auto& [name, known] : kActivations) {
    if (known == activation) return name;
  }
  throw UserError("this activation has no name in a config.json");
}

HuggingFaceConfig roberta(const Keys& keys) {
  HuggingFaceConfig out;
  const std::string architecture = keys.architecture();
  out.model = architecture == "RobertaForSequenceClassification"
                  ? HuggingFaceModel::sequence
                  : HuggingFaceModel::masked_language;
  keys.require("position_embedding_type", "absolute");
  keys.require("is_decoder", false);
  keys.require("add_cross_attention", false);
  keys.require("tie_word_embeddings", true);
  out.padding = keys.integer("pad_token_id", 1);
  check<UserError>(out.padding >= 0, keys.source(), ": pad_token_id must not be negative, but is ",
                   out.padding);
  out.first_token = keys.token("bos_token_id");
  out.last_token = keys.token("eos_token_id");
  out.outputs = keys.integer("num_labels", std::max<std::int64_t>(keys.entries("id2label"), 0));
  if (out.outputs == 0) out.outputs = 2;
  constexpr std::int64_t kMostOutputs = 65536;
  check<UserError>(out.outputs > 0 && out.outputs <= kMostOutputs, keys.source(),
                   ": num_labels must be 1 to ", kMostOutputs, ", not ", out.outputs);
  const std::string problem = keys.text("problem_type", "");
  out.regression = problem == "regression" || (problem.empty() && out.outputs == 1);
  out.labels = problem == "multi_label_classification";
  out.targets = keys.labels(out.outputs);
  TransformerConfig& t = out.transformer;
  t.vocabulary = keys.integer("vocab_size");
  t.hidden = keys.integer("hidden_size");
  t.layers = keys.integer("num_hidden_layers");
  t.heads = keys.integer("num_attention_heads");
  t.inner = keys.integer("intermediate_size");
  t.max_length = keys.integer("max_position_embeddings") - out.padding - 1;
  t.token_types = keys.integer("type_vocab_size", 1);
  t.activation = keys.activation("hidden_act", "gelu");
  t.norm_eps = keys.number("layer_norm_eps", 1e-12);
  t.dropout = keys.number("hidden_dropout_prob", 0.1);
  t.attention_dropout = keys.number("attention_probs_dropout_prob", 0.1);
  t.init_sd = keys.number("initializer_range", 0.02);
  keys.require("classifier_dropout", t.dropout);
  return out;
}

HuggingFaceConfig gpt2(const Keys& keys) {
  HuggingFaceConfig out;
  out.model = HuggingFaceModel::causal_language;
  keys.require("scale_attn_weights", true);
  keys.require("scale_attn_by_inverse_layer_idx", false);
  keys.require("add_cross_attention", false);
  keys.require("tie_word_embeddings", true);
  out.first_token = keys.token("bos_token_id");
  out.last_token = keys.token("eos_token_id");
  TransformerConfig& t = out.transformer;
  t.vocabulary = keys.integer("vocab_size");
  t.hidden = keys.integer("n_embd");
  t.layers = keys.integer("n_layer");
  t.heads = keys.integer("n_head");
  t.inner = keys.integer("n_inner", 0);
  t.max_length = keys.integer("n_positions");
  t.activation = keys.activation("activation_function", "gelu_new");
  t.norm_eps = keys.number("layer_norm_epsilon", 1e-5);
  t.dropout = keys.number("resid_pdrop", 0.1);
  t.attention_dropout = keys.number("attn_pdrop", 0.1);
  t.init_sd = keys.number("initializer_range", 0.02);
  keys.require("embd_pdrop", t.dropout);
  return out;
}

void add_tokens(const HuggingFaceConfig& config, nlohmann::ordered_json& to) {
  if (config.first_token) to["bos_token_id"] = *config.first_token;
  if (config.last_token) to["eos_token_id"] = *config.last_token;
}

nlohmann::ordered_json roberta_json(const HuggingFaceConfig& config) {
  const TransformerConfig& t = config.transformer;
  const bool sequence = config.model == HuggingFaceModel::sequence;
  nlohmann::ordered_json out = {
      {"architectures", {sequence ? "RobertaForSequenceClassification" : "RobertaForMaskedLM"}},
      {"model_type", "roberta"},
      {"vocab_size", t.vocabulary},
      {"hidden_size", t.hidden},
      {"num_hidden_layers", t.layers},
      {"num_attention_heads", t.heads},
      {"intermediate_size", t.inner_width()},
      {"hidden_act", name_of(t.activation)},
      {"hidden_dropout_prob", t.dropout},
      {"attention_probs_dropout_prob", t.attention_dropout},
      {"max_position_embeddings", t.max_length + config.padding + 1},
      {"type_vocab_size", t.token_types},
      {"initializer_range", t.init_sd},
      {"layer_norm_eps", t.norm_eps},
      {"pad_token_id", config.padding}};
  add_tokens(config, out);
  if (!sequence) return out;
  for (std::int64_t i = 0; i < config.outputs; ++i) {
    const bool named = std::ssize(config.targets) == config.outputs;
    const std::string label =
        named ? config.targets[static_cast<std::size_t>(i)] : "LABEL_" + std::to_string(i);
    out["id2label"][std::to_string(i)] = label;
    out["label2id"][label] = i;
  }
  if (config.regression) out["problem_type"] = "regression";
  if (config.labels) out["problem_type"] = "multi_label_classification";
  return out;
}

nlohmann::ordered_json gpt2_json(const HuggingFaceConfig& config) {
  const TransformerConfig& t = config.transformer;
  nlohmann::ordered_json out = {{"architectures", {"GPT2LMHeadModel"}},
                                {"model_type", "gpt2"},
                                {"vocab_size", t.vocabulary},
                                {"n_positions", t.max_length},
                                {"n_embd", t.hidden},
                                {"n_layer", t.layers},
                                {"n_head", t.heads},
                                {"n_inner", t.inner_width()},
                                {"activation_function", name_of(t.activation)},
                                {"resid_pdrop", t.dropout},
                                {"embd_pdrop", t.dropout},
                                {"attn_pdrop", t.attention_dropout},
                                {"layer_norm_epsilon", t.norm_eps},
                                {"initializer_range", t.init_sd}};
  add_tokens(config, out);
  return out;
}

}  // namespace

HuggingFaceConfig parse_huggingface_config(const json& values, const std::string& source) {
  const Keys keys(values, source);
  const std::string type = keys.text("model_type", "");
  check<UserError>(type == "roberta" || type == "gpt2", source, ": model_type = \"", type,
                   "\" is not known here, only roberta and gpt2");
  HuggingFaceConfig out = type == "roberta" ? roberta(keys) : gpt2(keys);
  try {
    nn::check_config(out.transformer);
  } catch (const UserError& error) {  // it speaks of the keys of recipes
    throw UserError(concat(source, ": ", error.what()));
  }
  return out;
}

HuggingFaceConfig read_huggingface_config(const std::filesystem::path& path) {
  return parse_huggingface_config(read_json(path), path.string());
}

nlohmann::ordered_json to_json(const HuggingFaceConfig& config) {
  return config.model == HuggingFaceModel::causal_language ? gpt2_json(config)
                                                           : roberta_json(config);
}

}  // namespace moiety::apps

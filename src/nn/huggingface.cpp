// SPDX-License-Identifier: Apache-2.0
#include "nn/huggingface.h"

namespace moiety::nn {
namespace {

using Places = std::vector<StateDictPlace>;

void check_architecture(const TransformerConfig& c, const char* name) {
  check<UserError>(c.norm == RowNormKind::layer, name, " has layer norms: model.norm = \"layer\"");
  check<UserError>(c.positions == PositionKind::learned, name,
                   " has learned positions: model.positions = \"learned\"");
  check<UserError>(!c.gated, name, " has no gates: model.gated = false");
  check<UserError>(c.heads_of_keys() == c.heads, name,
                   " has as many heads of keys as of queries: model.key_heads = 0");
}

/// Weight and bias of a linear layer or a norm, of the body unless `head`.
void add_pair(Places& places, const std::string& ours, const std::string& theirs,
              bool transposed = false, bool head = false) {
  places.push_back({ours + ".weight", {theirs + ".weight"}, transposed, 0, head});
  places.push_back({ours + ".bias", {theirs + ".bias"}, false, 0, head});
}

void add_encoder_layer(Places& places, const std::string& ours, const std::string& theirs) {
  for (const std::string kind : {".weight", ".bias"}) {
    StateDictPlace joint{ours + "attention.qkv" + kind, {}};
    for (const std::string part : {"query", "key", "value"}) {
      joint.theirs.push_back(theirs + "attention.self." + part + kind);
    }
    places.push_back(std::move(joint));
  }
  add_pair(places, ours + "attention.out", theirs + "attention.output.dense");
  add_pair(places, ours + "attention_norm", theirs + "attention.output.LayerNorm");
  add_pair(places, ours + "inner.up", theirs + "intermediate.dense");
  add_pair(places, ours + "inner.down", theirs + "output.dense");
  add_pair(places, ours + "inner_norm", theirs + "output.LayerNorm");
}

StateDictNames encoder_names(const TransformerConfig& config, std::int64_t padding) {
  check_architecture(config, "RoBERTa");
  check<UserError>(config.token_types > 0, "RoBERTa has a type embedding: model.token_types = 1");
  check<UserError>(padding >= 0, "the padding token's number cannot be ", padding);
  const std::string embeddings = "embeddings.";
  StateDictNames out;
  out.prefix = "roberta.";
  out.places = {{"encoder.embedding.token", {embeddings + "word_embeddings.weight"}},
                {"encoder.embedding.position",
                 {embeddings + "position_embeddings.weight"},
                 false,
                 padding + 1},
                {"encoder.embedding.type", {embeddings + "token_type_embeddings.weight"}}};
  add_pair(out.places, "encoder.norm", embeddings + "LayerNorm");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string number = std::to_string(i) + ".";
    add_encoder_layer(out.places, "encoder.layer." + number, "encoder.layer." + number);
  }
  // Buffers, what follows the encoder where no head does, and the token embedding once more.
  out.ignored = {"roberta.embeddings.position_ids", "embeddings.position_ids", "roberta.pooler.",
                 "pooler.", "lm_head.decoder."};
  out.heads = {"lm_head.", "classifier."};
  return out;
}

/// Of an encoder or decoder without its head. Floating point: a damaged file may ask for any sizes.
double count_parameters(const TransformerConfig& c) {
  const auto width = static_cast<double>(c.hidden);
  const auto inner = static_cast<double>(c.inner_width());
  const double layer = 4 * width * (width + 1) + 2 * inner * width + inner + 5 * width;
  const double rows = static_cast<double>(c.vocabulary) + static_cast<double>(c.max_length) +
                      static_cast<double>(c.token_types);
  return width * (rows + 2) + static_cast<double>(c.layers) * layer;
}

}  // namespace

void check_elements(const Checkpoint& from, const TransformerConfig& config) {
  double elements = 0;
  for (const auto& [name, tensor] : from.tensors) elements += static_cast<double>(tensor.numel());
  check<IoError>(count_parameters(config) <= elements, from.source(), " has ", elements,
                 " elements, and the model of its config.json needs ", count_parameters(config),
                 "; the two do not belong together");
}

StateDictNames state_dict_names(const MaskedLanguageModel& model, std::int64_t padding) {
  StateDictNames out = encoder_names(model.config(), padding);
  add_pair(out.places, "dense", "lm_head.dense", false, /*head=*/true);
  add_pair(out.places, "norm", "lm_head.layer_norm", false, /*head=*/true);
  out.places.push_back({"bias", {"lm_head.bias"}, false, 0, /*head=*/true});
  return out;
}

StateDictNames state_dict_names(const SequenceModel& model, std::int64_t padding) {
  StateDictNames out = encoder_names(model.config(), padding);
  add_pair(out.places, "dense", "classifier.dense", false, /*head=*/true);
  add_pair(out.places, "out", "classifier.out_proj", false, /*head=*/true);
  return out;
}

StateDictNames state_dict_names(const CausalLanguageModel& model) {
  const TransformerConfig& config = model.config();
  check_architecture(config, "GPT-2");
  check<UserError>(config.token_types == 0, "GPT-2 has no type embedding: model.token_types = 0");
  StateDictNames out;
  out.prefix = "transformer.";
  out.places = {{"decoder.embedding.token", {"wte.weight"}},
                {"decoder.embedding.position", {"wpe.weight"}}};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string ours = "decoder.layer." + std::to_string(i) + ".";
    const std::string theirs = "h." + std::to_string(i) + ".";
    add_pair(out.places, ours + "attention_norm", theirs + "ln_1");
    add_pair(out.places, ours + "attention.qkv", theirs + "attn.c_attn", /*transposed=*/true);
    add_pair(out.places, ours + "attention.out", theirs + "attn.c_proj", /*transposed=*/true);
    add_pair(out.places, ours + "inner_norm", theirs + "ln_2");
    add_pair(out.places, ours + "inner.up", theirs + "mlp.c_fc", /*transposed=*/true);
    add_pair(out.places, ours + "inner.down", theirs + "mlp.c_proj", /*transposed=*/true);
    for (const std::string& prefix : {out.prefix, std::string()}) {  // masks of old files
      out.ignored.push_back(prefix + theirs + "attn.bias");
      out.ignored.push_back(prefix + theirs + "attn.masked_bias");
    }
  }
  add_pair(out.places, "decoder.norm", "ln_f");
  out.ignored.push_back("lm_head.weight");  // the token embedding once more
  out.heads = {"lm_head."};
  return out;
}

}  // namespace moiety::nn

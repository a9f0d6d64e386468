// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <nlohmann/json.hpp>

#include "apps/model_spec.h"
#include "nn/model_names.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

constexpr const char* kStateKey = "model.spec";
constexpr std::array kTooLong = {"error", "truncate", "skip"};  // in the order of the enumerators

json graph_json(const ModelSpec& spec) {
  const nn::GraphModelConfig& c = spec.graph;
  return {{"conv", nn::name_of(c.conv)},
          {"hidden", c.hidden},
          {"layers", c.layers},
          {"pool", nn::name_of(c.pool)},
          {"norm", nn::name_of(c.norm)},
          {"activation", nn::name_of(c.activation)},
          {"dropout", c.dropout},
          {"residual", c.residual},
          {"head_layers", c.head_layers},
          {"atom_dims", c.atom_dims},
          {"bond_dims", c.bond_dims},
          {"featuriser", spec.featuriser},
          {"attention", c.attention},
          {"heads", c.heads},
          {"attention_dropout", c.attention_dropout}};
}

void read_graph(const json& from, ModelSpec& spec) {
  nn::GraphModelConfig& c = spec.graph;
  c.conv = nn::parse_conv(from.at("conv"));
  c.hidden = from.at("hidden");
  c.layers = from.at("layers");
  c.pool = nn::parse_pool(from.at("pool"));
  c.norm = nn::parse_norm(from.at("norm"));
  c.activation = nn::parse_activation(from.at("activation"));
  c.dropout = from.at("dropout");
  c.residual = from.at("residual");
  c.head_layers = from.at("head_layers");
  from.at("atom_dims").get_to(c.atom_dims);
  from.at("bond_dims").get_to(c.bond_dims);
  from.at("featuriser").get_to(spec.featuriser);
  c.attention = from.value("attention", c.attention);  // not there in the first version
  c.heads = from.value("heads", c.heads);
  c.attention_dropout = from.value("attention_dropout", c.attention_dropout);
  c.outputs = static_cast<std::int64_t>(spec.targets.size());
}

json transformer_json(const ModelSpec& spec) {
  const nn::TransformerConfig& c = spec.transformer;
  return {{"vocabulary", c.vocabulary},
          {"max_length", c.max_length},
          {"token_types", c.token_types},
          {"hidden", c.hidden},
          {"layers", c.layers},
          {"heads", c.heads},
          {"key_heads", c.key_heads},
          {"inner", c.inner},
          {"activation", nn::name_of(c.activation)},
          {"gated", c.gated},
          {"norm", nn::name_of(c.norm)},
          {"norm_eps", c.norm_eps},
          {"positions", nn::name_of(c.positions)},
          {"rotary_base", c.rotary_base},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"tokenizer", spec.tokenizer},
          {"too_long", kTooLong[static_cast<std::size_t>(spec.too_long)]},
          {"mask_probability", spec.mask_probability}};
}

void read_transformer(const json& from, ModelSpec& spec) {
  nn::TransformerConfig& c = spec.transformer;
  c.vocabulary = from.at("vocabulary");
  c.max_length = from.at("max_length");
  c.token_types = from.at("token_types");
  c.hidden = from.at("hidden");
  c.layers = from.at("layers");
  c.heads = from.at("heads");
  c.key_heads = from.at("key_heads");
  c.inner = from.at("inner");
  c.activation = nn::parse_activation(from.at("activation"));
  c.gated = from.at("gated");
  c.norm = nn::parse_row_norm(from.at("norm"));
  c.norm_eps = from.at("norm_eps");
  c.positions = nn::parse_positions(from.at("positions"));
  c.rotary_base = from.at("rotary_base");
  c.dropout = from.at("dropout");
  c.attention_dropout = from.at("attention_dropout");
  from.at("tokenizer").get_to(spec.tokenizer);
  spec.too_long = parse_too_long(from.at("too_long"));
  spec.mask_probability = from.at("mask_probability");
  nn::check_config(c);
}

ModelKind parse_kind(const std::string& name) {
  for (const ModelKind kind : {ModelKind::graph, ModelKind::sequence, ModelKind::masked_language,
                               ModelKind::causal_language}) {
    if (name_of(kind) == name) return kind;
  }
  throw UserError("no kind of model is named '" + name + "'");
}

ModelSpec read_spec(const json& from) {
  ModelSpec spec;
  spec.kind = parse_kind(from.value("kind", "graph"));
  from.at("targets").get_to(spec.targets);
  from.at("units").get_to(spec.units);
  from.at("mean").get_to(spec.mean);
  from.at("sd").get_to(spec.sd);
  spec.target_task = from.value("target_task", "regression");
  const std::size_t targets = spec.targets.size();
  check<UserError>(
      spec.units.size() == targets && spec.mean.size() == targets && spec.sd.size() == targets,
      "the description of its targets does not add up");
  if (spec.kind == ModelKind::graph) {
    read_graph(from, spec);
  } else {
    read_transformer(from, spec);
  }
  return spec;
}

}  // namespace

std::map<std::string, std::string> to_state(const ModelSpec& spec) {
  json out = spec.kind == ModelKind::graph ? graph_json(spec) : transformer_json(spec);
  out.update({{"kind", name_of(spec.kind)},
              {"target_task", spec.target_task},
              {"targets", spec.targets},
              {"units", spec.units},
              {"mean", spec.mean},
              {"sd", spec.sd}});
  return {{kStateKey, out.dump()}};
}

ModelSpec model_spec_from_state(const std::map<std::string, std::string>& state,
                                const std::string& path) {
  const auto entry = state.find(kStateKey);
  check<IoError>(entry != state.end(), path, " holds no description of its model");
  try {
    return read_spec(json::parse(entry->second));
  } catch (const std::exception& error) {
    throw IoError(concat(path, ": the description of its model cannot be read: ", error.what()));
  }
}

}  // namespace moiety::apps

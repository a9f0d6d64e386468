// SPDX-License-Identifier: Apache-2.0
#include "apps/model_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "apps/suggest.h"
#include "nn/model_names.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

std::size_t column_of(const std::string& target, const data::DatasetInfo& info) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < info.targets.size(); ++t) {
    if (info.targets[t].name == target) return t;
    names.push_back(info.targets[t].name);
  }
  throw UserError(names.empty()
                      ? fmt::format("{} has no targets, hence no '{}'", info.path, target)
                      : fmt::format("{} has no target '{}'{}; it has {}", info.path, target,
                                    did_you_mean(target, names), fmt::join(names, ", ")));
}

/// Measurements, or classes: a multilabel target is a class of which nothing may be known.
std::string kind_of(const data::TargetSpec& target) {
  return target.task == "regression" ? "regression" : "binary";
}

void add_targets(ModelSpec& spec, const Recipe& recipe, const data::DatasetInfo& info) {
  spec.targets = recipe.data.target;
  if (spec.targets.empty()) {
    for (const data::TargetSpec& target : info.targets) spec.targets.push_back(target.name);
  }
  check<UserError>(!spec.targets.empty(), info.path,
                   " has no targets to train on; prepare it with "
                   "--target NAME");
  spec.target_task = kind_of(info.targets[column_of(spec.targets.front(), info)]);
  for (const std::string& name : spec.targets) {
    const std::size_t column = column_of(name, info);
    const data::TargetSpec& target = info.targets[column];
    check<UserError>(kind_of(target) == spec.target_task, "target '", name, "' of ", info.path,
                     " is prepared for ", target.task, " and '", spec.targets.front(), "' for ",
                     spec.target_task,
                     "; train a model for each (data.target names those to train on)");
    const bool standardize = recipe.data.standardize && spec.target_task == "regression";
    spec.units.push_back(target.unit);
    spec.mean.push_back(standardize ? info.target_mean[column] : 0.0);
    spec.sd.push_back(standardize ? info.target_sd[column] : 1.0);
  }
}

void add_graph(ModelSpec& spec, const ModelRecipe& model, const data::DatasetInfo& info) {
  check<UserError>(info.has_graphs, info.path, " has no graphs, and model.type = \"", model.type,
                   "\" reads them; prepare it with --target NAME, or train an encoder or decoder");
  spec.featuriser = info.features.featuriser;
  spec.graph.conv = nn::parse_conv(model.type);
  spec.graph.hidden = model.hidden;
  spec.graph.layers = model.layers;
  spec.graph.pool = nn::parse_pool(model.pool);
  spec.graph.norm = nn::parse_norm(model.norm);
  spec.graph.activation = nn::parse_activation(model.activation);
  spec.graph.dropout = model.dropout;
  spec.graph.residual = model.residual;
  spec.graph.head_layers = model.head_layers;
  spec.graph.attention = model.attention;
  spec.graph.heads = model.heads;
  spec.graph.attention_dropout = model.attention_dropout;
  spec.graph.atom_dims = info.features.atom_dims;
  spec.graph.bond_dims = info.features.bond_dims;
  spec.graph.outputs = static_cast<std::int64_t>(spec.targets.size());
}

void add_transformer(ModelSpec& spec, const Recipe& recipe, const data::DatasetInfo& info) {
  const ModelRecipe& model = recipe.model;
  check<UserError>(info.has_tokens, info.path, " has no tokens, and model.type = \"", model.type,
                   "\" reads them; prepare it with --tokenizer FOLDER");
  spec.tokenizer = info.tokenizer;
  spec.too_long = parse_too_long(recipe.data.too_long);
  spec.mask_probability = recipe.train.mask_probability;
  check<UserError>(model.vocabulary == 0 || model.vocabulary >= info.vocabulary,
                   "model.vocabulary = ", model.vocabulary, " is less than the ", info.vocabulary,
                   " tokens of ", info.path, "; leave it out");
  spec.transformer.vocabulary = model.vocabulary > 0 ? model.vocabulary : info.vocabulary;
  spec.transformer.max_length = model.max_length;
  spec.transformer.token_types = model.token_types;
  spec.transformer.hidden = model.hidden;
  spec.transformer.layers = model.layers;
  spec.transformer.heads = model.heads;
  spec.transformer.key_heads = model.key_heads;
  spec.transformer.inner = model.inner;
  spec.transformer.activation = nn::parse_activation(model.activation);
  spec.transformer.gated = model.gated;
  spec.transformer.norm = nn::parse_row_norm(model.norm);
  spec.transformer.norm_eps = model.norm_eps;
  spec.transformer.positions = nn::parse_positions(model.positions);
  spec.transformer.dropout = model.dropout;
  spec.transformer.attention_dropout = model.attention_dropout;
  nn::check_config(spec.transformer);
}

bool learns_language(const Recipe& recipe, const data::DatasetInfo& info) {
  if (recipe.train.task != "auto") return recipe.train.task == "language";
  return reads_tokens(recipe.model) && info.targets.empty() && recipe.data.target.empty();
}

ModelKind kind_of(const Recipe& recipe, const data::DatasetInfo& info) {
  const bool language = learns_language(recipe, info);
  check<UserError>(
      recipe.train.task != "language" || recipe.data.target.empty(),
      "train.task = \"language\" has no targets, and data.target names some; leave one "
      "of the two out");
  if (!reads_tokens(recipe.model)) return ModelKind::graph;
  const bool encoder = recipe.model.type == "encoder";
  check<UserError>(
      encoder || language, info.path,
      " has targets, which a decoder does not learn; take model.type = \"encoder\", or "
      "train.task = \"language\" to learn its SMILES");
  if (!language) return ModelKind::sequence;
  return encoder ? ModelKind::masked_language : ModelKind::causal_language;
}

double count_parameters(const nn::TransformerConfig& c) {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const double hidden = number(c.hidden);
  const double inner = number(c.inner_width()) * (c.gated ? 3 : 2);
  const double keys = number(c.heads_of_keys() * c.head_size());
  const double layer = 2 * hidden * hidden + 2 * hidden * keys + hidden * inner;
  const double rows = number(c.vocabulary) + number(c.token_types) +
                      (c.positions == nn::PositionKind::learned ? number(c.max_length) : 0.0);
  return rows * hidden + number(c.layers) * layer + hidden * hidden;
}

}  // namespace

std::string name_of(ModelKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"graph", "sequence", "masked_language",
                                                      "causal_language"};
  return std::string(kNames[static_cast<std::size_t>(kind)]);
}

data::TooLong parse_too_long(const std::string& name) {
  if (name == "truncate") return data::TooLong::truncate;
  return name == "skip" ? data::TooLong::skip : data::TooLong::error;
}

ModelSpec make_model_spec(const Recipe& recipe, const data::DatasetInfo& info) {
  ModelSpec spec;
  spec.kind = kind_of(recipe, info);
  const bool language =
      spec.kind == ModelKind::masked_language || spec.kind == ModelKind::causal_language;
  if (!language) add_targets(spec, recipe, info);
  if (spec.kind == ModelKind::graph) {
    add_graph(spec, recipe.model, info);
  } else {
    add_transformer(spec, recipe, info);
  }
  return spec;
}

double count_parameters(const ModelSpec& spec) {
  return spec.kind == ModelKind::graph ? nn::count_parameters(spec.graph)
                                       : count_parameters(spec.transformer);
}

std::vector<std::size_t> target_columns(const ModelSpec& spec, const data::DatasetInfo& info) {
  std::vector<std::size_t> out;
  for (const std::string& name : spec.targets) out.push_back(column_of(name, info));
  return out;
}

std::vector<std::string> common_units(const ModelSpec& spec, const data::DatasetInfo& info) {
  std::vector<std::string> out;
  for (std::size_t t = 0; t < spec.targets.size(); ++t) {
    const std::string& own = spec.units[t];
    const std::string& other = info.targets[column_of(spec.targets[t], info)].unit;
    check<UserError>(own == other || own.empty() || other.empty(), "target '", spec.targets[t],
                     "' is in ", other, " in ", info.path, ", but the model was trained on ", own,
                     "; prepare the data set in that unit");
    out.push_back(own.empty() ? other : own);
  }
  return out;
}

void check_features(const ModelSpec& spec, const data::FeatureSchema& features,
                    const std::string& path) {
  check<UserError>(
      !features.atom_dims.empty(), path,
      " holds tokens alone, no graphs, which this model reads; prepare it with --target");
  check<UserError>(
      features.featuriser == spec.featuriser && features.atom_dims == spec.graph.atom_dims &&
          features.bond_dims == spec.graph.bond_dims,
      path, " has the features of '", features.featuriser, "', the model was trained on those of '",
      spec.featuriser, "'; prepare the data again with this version");
}

void check_tokens(const ModelSpec& spec, const data::DatasetInfo& info) {
  check<UserError>(info.has_tokens, info.path,
                   " has no tokens, and the model reads them; prepare it with --tokenizer and the "
                   "tokenizer/ of the run");
  check<UserError>(info.tokenizer == spec.tokenizer, info.path,
                   " was cut into tokens in another way than the model was trained on; prepare it "
                   "with --tokenizer and the tokenizer/ of the run");
}

}  // namespace moiety::apps

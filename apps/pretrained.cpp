// SPDX-License-Identifier: Apache-2.0
#include "apps/pretrained.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "apps/huggingface_config.h"
#include "apps/recipe_keys.h"
#include "apps/recipe_values.h"
#include "apps/trained_model.h"
#include "data/tokenizer_record.h"
#include "nn/checkpoint_tensors.h"
#include "nn/model_names.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 13> kShapeKeys = {
    "model.hidden",    "model.layers",     "model.activation", "model.norm",
    "model.heads",     "model.key_heads",  "model.inner",      "model.gated",
    "model.positions", "model.max_length", "model.vocabulary", "model.token_types",
    "model.norm_eps"};

std::string type_of(ModelKind kind) {
  return kind == ModelKind::causal_language ? "decoder" : "encoder";
}

Pretrained open_huggingface(const fs::path& folder) {
  const HuggingFaceConfig config = read_huggingface_config(folder / "config.json");
  Pretrained out;
  out.source = folder.string();
  out.weights = folder / "model.safetensors";
  out.huggingface = true;
  out.padding = config.padding;
  out.transformer = config.transformer;
  out.tokenizer = data::tokenizer_json(*data::load_tokenizer(folder));
  const bool causal = config.model == HuggingFaceModel::causal_language;
  const bool masked = config.model == HuggingFaceModel::masked_language;
  out.kind = causal   ? ModelKind::causal_language
             : masked ? ModelKind::masked_language
                      : ModelKind::sequence;
  check<UserError>(fs::exists(out.weights), folder.string(),
                   " has no model.safetensors; save the model with save_pretrained(folder, "
                   "safe_serialization=True)");
  return out;
}

Pretrained open_own(const fs::path& path) {
  const auto host = make_cpu_device(1);
  const fs::path file = weights_of(path);
  const nn::Checkpoint checkpoint = nn::Checkpoint::load(file, *host);
  const ModelSpec spec = model_spec_from_state(checkpoint.state, file.string());
  check<UserError>(spec.kind != ModelKind::graph, path.string(),
                   " is a graph network; model.init_from names an encoder or a decoder");
  Pretrained out;
  out.source = path.string();
  out.kind = spec.kind;
  out.transformer = spec.transformer;
  out.tokenizer = spec.tokenizer;
  out.weights = file;
  return out;
}

/// The recipe of a model of this shape.
Recipe recipe_of(const Pretrained& from) {
  const nn::TransformerConfig& c = from.transformer;
  Recipe out = default_recipe(type_of(from.kind));
  out.model.hidden = c.hidden;
  out.model.layers = c.layers;
  out.model.activation = nn::name_of(c.activation);
  out.model.norm = nn::name_of(c.norm);
  out.model.heads = c.heads;
  out.model.key_heads = c.key_heads;
  out.model.inner = c.inner;
  out.model.gated = c.gated;
  out.model.positions = nn::name_of(c.positions);
  out.model.max_length = c.max_length;
  out.model.vocabulary = c.vocabulary;
  out.model.token_types = c.token_types;
  out.model.norm_eps = c.norm_eps;
  return out;
}

/// Both are of one key.
void copy_value(const Field& to, const Field& from) {
  std::visit([&](auto* value) { *value = *std::get<decltype(value)>(from); }, to);
}

/// Copies the tensors that both have under one name and that are of the body, or all.
void load_own(const nn::Checkpoint& checkpoint, const nn::Module& model, bool all) {
  std::vector<nn::NamedTensor> tensors;
  for (const nn::NamedParameter& p : model.named_parameters()) {
    const bool body = p.name.starts_with("encoder.") || p.name.starts_with("decoder.");
    if (all || body) tensors.push_back({p.name, p.value.data()});
  }
  nn::Checkpoint part;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const bool body = name.starts_with("model.encoder.") || name.starts_with("model.decoder.");
    if (all || body) part.tensors.emplace(name, tensor);
  }
  nn::restore_tensors(part, "model.", tensors);
}

}  // namespace

Pretrained open_pretrained(const fs::path& path) {
  check<UserError>(fs::exists(path), "model.init_from: ", path.string(),
                   ": no such run, checkpoint or folder");
  if (fs::exists(path / "config.json")) return open_huggingface(path);
  check<UserError>(!fs::is_directory(path) || fs::exists(path / "recipe.toml"),
                   "model.init_from: ", path.string(),
                   " is neither a run (it has no recipe.toml) nor a folder in "
                   "HuggingFace's layout (it has no config.json)");
  return open_own(path);
}

void adopt_shape(Recipe& recipe, const Pretrained& from) {
  check<UserError>(recipe.model.type == type_of(from.kind), "model.init_from: ", from.source,
                   " is a ", type_of(from.kind), ", and model.type is \"", recipe.model.type,
                   "\"; set it to \"", type_of(from.kind), "\"");
  adopt_shape(recipe, recipe_of(from), from.source);
}

void adopt_shape(Recipe& recipe, const Recipe& from, const std::string& source) {
  Recipe theirs = from;
  Recipe usual = default_recipe(recipe.model.type);
  const auto keys = recipe_keys(recipe);
  const auto their_keys = recipe_keys(theirs);
  const auto usual_keys = recipe_keys(usual);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (std::ranges::count(kShapeKeys, keys[i].name) == 0) continue;
    const std::string own = format_value(keys[i].field);
    const std::string other = format_value(their_keys[i].field);
    check<UserError>(own == other || own == format_value(usual_keys[i].field), keys[i].name, " = ",
                     own, ", but ", source, ", with whose weights the training begins, has ", other,
                     "; leave ", keys[i].name, " out");
    copy_value(keys[i].field, their_keys[i].field);
  }
}

void load_weights(const Pretrained& from, const Task& task) {
  check<UserError>(from.tokenizer == task.spec().tokenizer,
                   "the data set was cut into tokens in "
                   "another way than ",
                   from.source,
                   " was trained on, which model.init_from names; prepare the data set with "
                   "--tokenizer and the tokenizer of that one");
  const bool all = from.kind == task.spec().kind && from.kind != ModelKind::sequence;
  const auto integrity =
      from.huggingface ? nn::Checkpoint::Integrity::any : nn::Checkpoint::Integrity::checked;
  const auto checkpoint = nn::Checkpoint::load(from.weights, task.device().host(), integrity);
  if (from.huggingface) {
    nn::import_state_dict(checkpoint, task.state_dict_names(from.padding), task.model(),
                          all ? nn::ImportedPart::all : nn::ImportedPart::body);
  } else {
    load_own(checkpoint, task.model(), all);
  }
}

}  // namespace moiety::apps

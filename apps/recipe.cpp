// SPDX-License-Identifier: Apache-2.0
#include "apps/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>

#include "apps/recipe_keys.h"
#include "apps/recipe_values.h"
#include "apps/suggest.h"
#include "apps/text_file.h"
#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

/// What follows "unknown key X": the name that was meant, or all there are in the section.
std::string suggest_key(std::string_view section, std::string_view leaf,
                        const std::vector<Key>& keys) {
  const auto suggestion = [](std::string_view name) {
    return fmt::format("; did you mean '{}'?", name);
  };
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (key.section() == section) names.emplace_back(key.leaf());
  }
  for (const Key& key : keys) {
    if (key.section() == section && std::ranges::count(key.also_called, leaf)) {
      return suggestion(key.name);
    }
  }
  if (const auto near = nearest(leaf, names))
    return suggestion(fmt::format("{}.{}", section, *near));
  for (const Key& key : keys) {
    if (key.leaf() == leaf || std::ranges::count(key.also_called, leaf))
      return suggestion(key.name);
  }
  return names.empty() ? "" : fmt::format("; [{}] has {}", section, fmt::join(names, ", "));
}

std::vector<std::string> section_names(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (names.empty() || names.back() != key.section()) names.emplace_back(key.section());
  }
  return names;
}

std::string suggest_section(std::string_view name, const std::vector<std::string>& sections) {
  const std::string suggestion = did_you_mean(name, sections);
  return suggestion.empty() ? fmt::format("; the sections are {}", fmt::join(sections, ", "))
                            : suggestion;
}

void set_key(const std::string& place, std::string_view section, std::string_view leaf,
             const toml::node& value, const std::vector<Key>& keys) {
  const auto key = std::ranges::find_if(
      keys, [&](const Key& k) { return k.section() == section && k.leaf() == leaf; });
  check<UserError>(key != keys.end(), place, ": unknown key '", section, ".", leaf, "'",
                   key != keys.end() ? "" : suggest_key(section, leaf, keys));
  assign(place, *key, value);
}

void set_all(const std::string& name, const toml::table& table, const std::vector<Key>& keys) {
  const auto place = [&](const toml::key& key) {
    return fmt::format("{}:{}", name, key.source().begin.line);
  };
  const std::vector<std::string> sections = section_names(keys);
  for (const auto& [section, content] : table) {
    const toml::table* entries = content.as_table();
    check<UserError>(entries != nullptr, place(section), ": '", section.str(),
                     "' stands outside the sections", suggest_key("", section.str(), keys));
    check<UserError>(std::ranges::count(sections, section.str()) > 0, place(section),
                     ": unknown section [", section.str(), "]",
                     suggest_section(section.str(), sections));
    for (const auto& [leaf, value] : *entries) {
      set_key(place(leaf), section.str(), leaf.str(), value, keys);
    }
  }
}

/// The right side of an override: TOML where it reads as TOML, else a string.
toml::table parse_override_value(std::string_view text) {
  try {
    toml::table table = toml::parse(fmt::format("value = {}", text));
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // A bare word: --set model.type=gcn.
  }
  return toml::table{{"value", std::string(text)}};
}

void set_override(const std::string& text, const std::vector<Key>& keys) {
  const std::string place = "--set " + text;
  const std::size_t equals = text.find('=');
  check<UserError>(equals != std::string::npos, place, ": write --set section.key=value");
  const std::string_view name = std::string_view(text).substr(0, equals);
  const std::size_t dot = name.find('.');
  check<UserError>(dot != std::string_view::npos, place, ": '", name, "' names no section",
                   suggest_key("", name, keys));
  const toml::table value = parse_override_value(std::string_view(text).substr(equals + 1));
  set_key(place, name.substr(0, dot), name.substr(dot + 1), *value.get("value"), keys);
}

/// Keys of other models than this one must be left alone: nothing would come of them.
void check_scopes(const Recipe& recipe, const std::string& name) {
  Recipe own = recipe;
  Recipe usual = default_recipe(recipe.model.type);
  const bool tokens = reads_tokens(recipe.model);
  const std::vector<Key> keys = recipe_keys(own);
  const std::vector<Key> defaults = recipe_keys(usual);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool applies =
        keys[i].scope == Key::Scope::all || (keys[i].scope == Key::Scope::tokens) == tokens;
    check<UserError>(applies || format_value(keys[i].field) == format_value(defaults[i].field),
                     name, ": ", keys[i].name, " is a key of ",
                     tokens ? "graph networks" : "encoders and decoders", ", and model.type is \"",
                     recipe.model.type, "\"; leave it out");
  }
  const bool attends = tokens || recipe.model.attention;
  check<UserError>(attends || (recipe.model.heads == usual.model.heads &&
                               recipe.model.attention_dropout == usual.model.attention_dropout),
                   name,
                   ": model.heads and model.attention_dropout are of attention, which graph "
                   "networks have with model.attention = true; set it, or leave them out");
  const std::string& norm = recipe.model.norm;
  const bool fits = tokens ? norm == "layer" || norm == "rms" : norm != "rms";
  check<UserError>(fits, name, ": model.norm = \"", norm, "\" does not go with model.type = \"",
                   recipe.model.type, "\"; it takes ",
                   tokens ? "layer or rms" : "none, layer or batch");
}

/// What no single key can tell.
void check_together(const Recipe& recipe, const std::string& name) {
  check_scopes(recipe, name);
  check<UserError>(!recipe.data.path.empty(), name,
                   ": data.path is missing; name the data set made by `moiety prepare`");
  for (const std::string& target : recipe.data.target) {
    check<UserError>(std::ranges::count(recipe.data.target, target) == 1, name,
                     ": data.target names '", target, "' twice");
  }
  check<UserError>((recipe.data.node_budget == 0) == (recipe.data.edge_budget == 0), name,
                   ": data.node_budget and data.edge_budget go together; set both or neither");
  check<UserError>(recipe.train.task != "language" || reads_tokens(recipe.model), name,
                   ": train.task = \"language\" needs model.type = \"encoder\" (tokens that were "
                   "hidden) or \"decoder\" (the next token)");
  check<UserError>(
      std::exp2(std::round(std::log2(recipe.train.loss_scale))) == recipe.train.loss_scale, name,
      ": train.loss_scale = ", recipe.train.loss_scale,
      " is not a power of two, so that it would round gradients; use 65536, say");
  check<UserError>(!recipe.model.attention || recipe.model.residual, name,
                   ": model.attention always adds a layer's input to its output; leave "
                   "model.residual out");
  check<UserError>(recipe.train.min_lr <= recipe.train.lr, name,
                   ": train.min_lr = ", recipe.train.min_lr,
                   " is above train.lr = ", recipe.train.lr);
}

toml::table parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
}

}  // namespace

bool reads_tokens(const ModelRecipe& model) {
  return model.type == "encoder" || model.type == "decoder";
}

Recipe default_recipe(const std::string& model_type) {
  Recipe out;
  out.model.type = model_type;
  if (!reads_tokens(out.model)) return out;
  const bool encoder = model_type == "encoder";  // RoBERTa's and GPT-2's own choices
  out.model.hidden = 384;
  out.model.layers = 6;
  out.model.activation = encoder ? "gelu" : "gelu_tanh";
  out.model.norm = "layer";
  out.model.heads = 12;
  out.model.dropout = 0.1;
  out.model.attention_dropout = 0.1;
  out.model.token_types = encoder ? 1 : 0;
  out.train.no_decay = {"embedding"};
  return out;
}

Recipe parse_recipe(std::string_view text, const std::string& name,
                    const std::vector<std::string>& overrides) {
  const toml::table table = parse_toml(text, name);
  const auto fill = [&](Recipe recipe) {
    const std::vector<Key> keys = recipe_keys(recipe);
    set_all(name, table, keys);
    for (const std::string& override_text : overrides) set_override(override_text, keys);
    return recipe;
  };
  Recipe recipe = fill(default_recipe(fill({}).model.type));
  check_together(recipe, name);
  return recipe;
}

Recipe read_recipe(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  check_input_file(file);
  return parse_recipe(read_file(file), file.string(), overrides);
}

std::string to_toml(const Recipe& recipe) {
  Recipe copy = recipe;
  Recipe defaults = default_recipe(recipe.model.type);
  const std::vector<Key> keys = recipe_keys(copy);
  const std::vector<Key> default_keys = recipe_keys(defaults);
  std::string out;
  std::string_view section;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key& key = keys[i];
    if (key.section() != section) {
      section = key.section();
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    const std::string value = format_value(key.field);
    const std::string usual = format_value(default_keys[i].field);
    out += fmt::format("# {} ({}{})\n{} = {}\n", key.help, describe_allowed(key),
                       value == usual ? "" : "; default " + usual, key.leaf(), value);
  }
  return out;
}

}  // namespace moiety::apps

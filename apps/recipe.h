// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/span.h"

namespace moiety::apps {

// The fields below hold the defaults of graph networks. What each means and which values it takes
// is said once, in recipe_keys.cpp; every Recipe that was read has passed those checks.

struct DataRecipe {
  std::string path;
  std::vector<std::string> target;
  std::int64_t batch_size = 64;
  std::int64_t node_budget = 0;
  std::int64_t edge_budget = 0;
  std::int64_t token_budget = 0;
  std::string augment = "none";
  std::string too_long = "error";
  bool standardize = true;
  bool operator==(const DataRecipe&) const = default;
};

struct ModelRecipe {
  std::string type = "gcn";
  std::int64_t hidden = 128;
  std::int64_t layers = 5;
  std::string activation = "relu";
  std::string norm = "batch";
  double dropout = 0;
  bool residual = true;
  std::string pool = "mean";
  std::int64_t head_layers = 2;
  bool attention = false;

  std::int64_t heads = 4;
  std::int64_t key_heads = 0;
  std::int64_t inner = 0;
  bool gated = false;
  std::string positions = "learned";
  std::int64_t max_length = 512;
  std::int64_t vocabulary = 0;
  std::int64_t token_types = 0;
  double norm_eps = 1e-5;
  double attention_dropout = 0;
  std::string init_from;
  bool operator==(const ModelRecipe&) const = default;
};

struct TrainRecipe {
  std::string task = "auto";
  std::int64_t epochs = 60;
  std::int64_t max_steps = 0;
  std::int64_t seed = 0;
  std::string precision = "f32";
  double loss_scale = 65536;                ///< of f16 at first
  std::int64_t loss_scale_interval = 2000;  ///< good steps after which it doubles
  bool recompute = false;                   ///< layers keep their input alone
  std::int64_t accumulate = 1;

  std::string loss = "auto";
  double huber_delta = 1;
  double mask_probability = 0.15;

  std::string optimizer = "adamw";
  double lr = 1e-3;
  double weight_decay = 0;
  std::vector<std::string> no_decay;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;

  std::string schedule = "one_cycle";
  Span warmup;
  double min_lr = 0;
  double one_cycle_rise = 0.3;
  Span step_every{10, Span::Unit::epochs};
  double step_factor = 0.5;
  std::int64_t plateau_patience = 10;
  double plateau_factor = 0.5;

  std::int64_t early_stop_patience = 0;
  double ema = 0;
  bool operator==(const TrainRecipe&) const = default;
};

struct DistRecipe {
  std::string strategy = "ddp";
  bool deterministic = false;
  bool operator==(const DistRecipe&) const = default;
};

struct RunRecipe {
  std::string device = "auto";
  std::int64_t threads = 0;
  Span validate_every{1, Span::Unit::epochs};
  Span checkpoint_every{1, Span::Unit::epochs};
  std::int64_t keep_checkpoints = 2;
  std::string attention = "own";
  bool operator==(const RunRecipe&) const = default;
};

/// A training recipe: what to train on, which model, how, on how many processes, and where.
struct Recipe {
  DataRecipe data;
  ModelRecipe model;
  TrainRecipe train;
  DistRecipe dist;
  RunRecipe run;
  bool operator==(const Recipe&) const = default;
};

/// Whether model.type is a transformer of tokens; else it is a graph network.
bool reads_tokens(const ModelRecipe& model);

/// The recipe with nothing set but model.type, on which other defaults depend.
Recipe default_recipe(const std::string& model_type);

/// Reads a TOML recipe; each override is "section.key=value" in TOML syntax (a bare word is taken
/// as a string) and wins over the file. Throws UserError naming the file, the line, the key and the
/// nearest valid one, the expected type or the allowed range.
Recipe read_recipe(const std::filesystem::path& file,
                   const std::vector<std::string>& overrides = {});

/// The same for a text; messages call it `name`.
Recipe parse_recipe(std::string_view text, const std::string& name,
                    const std::vector<std::string>& overrides = {});

/// The complete recipe as TOML with one line of help above each key. Read back, it gives an equal
/// Recipe.
std::string to_toml(const Recipe& recipe);

}  // namespace moiety::apps

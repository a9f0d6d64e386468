// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/recipe.h"
#include "data/dataset_info.h"
#include "data/token_collate.h"
#include "nn/graph_model.h"
#include "nn/target_scaler.h"
#include "nn/transformer_config.h"

namespace moiety::apps {

/// What a model reads and what it says of it.
enum class ModelKind : std::uint8_t {
  graph,            ///< targets of molecular graphs
  sequence,         ///< targets of token sequences
  masked_language,  ///< tokens that were hidden
  causal_language,  ///< the next token
};

/// "graph", "sequence", ...
std::string name_of(ModelKind kind);

/// What a trained model is, apart from its weights: enough to build it again and to feed it. Kept
/// in every checkpoint, so that prediction needs neither the recipe nor the training data.
struct ModelSpec {
  ModelKind kind = ModelKind::graph;

  // Of graphs.
  nn::GraphModelConfig graph;
  std::string featuriser;  ///< as in data::FeatureSchema

  // Of token sequences.
  nn::TransformerConfig transformer;
  std::string tokenizer;  ///< as data::tokenizer_json writes it
  data::TooLong too_long = data::TooLong::error;
  double mask_probability = 0.15;  ///< of masked_language

  // Of those that have targets.
  std::string target_task = "regression";  ///< as in data::TargetSpec
  std::vector<std::string> targets;
  std::vector<std::string> units;
  std::vector<double> mean;  ///< of each target; 0 when it is not standardised
  std::vector<double> sd;

  nn::TargetScaler scaler() const { return {mean, sd}; }
};

/// The model that a recipe asks for on a data set. Throws UserError for a target that the data set
/// does not have, naming the nearest one, for tasks that do not go together, and where the data set
/// lacks what the model reads.
ModelSpec make_model_spec(const Recipe& recipe, const data::DatasetInfo& info);

/// Weights of the model that a description stands for, without building it.
double count_parameters(const ModelSpec& spec);

/// Column of each target of the model in the data set. Throws UserError naming a missing one.
std::vector<std::size_t> target_columns(const ModelSpec& spec, const data::DatasetInfo& info);

/// The unit of each target, from the model or, where that does not know it, from the data set.
/// Throws UserError naming both where they differ: errors would be of the wrong size.
std::vector<std::string> common_units(const ModelSpec& spec, const data::DatasetInfo& info);

/// Throws UserError unless the data set's features are those that the model was trained on.
void check_features(const ModelSpec& spec, const data::FeatureSchema& features,
                    const std::string& path);

/// Throws UserError unless the data set's tokens are of the tokenizer that the model was trained
/// with.
void check_tokens(const ModelSpec& spec, const data::DatasetInfo& info);

/// "error", "truncate", "skip" as data.too_long has them.
data::TooLong parse_too_long(const std::string& name);

/// As entries of a checkpoint's state, all under "model.".
std::map<std::string, std::string> to_state(const ModelSpec& spec);
/// The inverse. Throws IoError, naming the file, for what is missing or makes no sense.
ModelSpec model_spec_from_state(const std::map<std::string, std::string>& state,
                                const std::string& path);

}  // namespace moiety::apps

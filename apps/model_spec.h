// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/recipe.h"
#include "data/dataset_info.h"
#include "nn/graph_model.h"
#include "nn/target_scaler.h"

namespace moiety::apps {

/// What a trained model is, apart from its weights: enough to build it again and to feed it. Kept
/// in every checkpoint, so that prediction needs neither the recipe nor the training data.
struct ModelSpec {
  nn::GraphModelConfig graph;
  std::string featuriser;  ///< as in data::FeatureSchema
  std::vector<std::string> targets;
  std::vector<std::string> units;
  std::vector<double> mean;  ///< of each target; 0 when it is not standardised
  std::vector<double> sd;

  nn::TargetScaler scaler() const { return {mean, sd}; }
};

/// The model that a recipe asks for on a data set. Throws UserError for a target that the data set
/// does not have, naming the nearest one, and for tasks that cannot be trained.
ModelSpec make_model_spec(const Recipe& recipe, const data::DatasetInfo& info);

/// Column of each target of the model in the data set. Throws UserError naming a missing one.
std::vector<std::size_t> target_columns(const ModelSpec& spec, const data::DatasetInfo& info);

/// The unit of each target, from the model or, where that does not know it, from the data set.
/// Throws UserError naming both where they differ: errors would be of the wrong size.
std::vector<std::string> common_units(const ModelSpec& spec, const data::DatasetInfo& info);

/// Throws UserError unless the data set's features are those that the model was trained on.
void check_features(const ModelSpec& spec, const data::FeatureSchema& features,
                    const std::string& path);

/// As entries of a checkpoint's state, all under "model.".
std::map<std::string, std::string> to_state(const ModelSpec& spec);
/// The inverse. Throws IoError, naming the file, for what is missing or makes no sense.
ModelSpec model_spec_from_state(const std::map<std::string, std::string>& state,
                                const std::string& path);

}  // namespace moiety::apps

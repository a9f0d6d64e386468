// SPDX-License-Identifier: Apache-2.0
#include "apps/model_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "apps/suggest.h"
#include "nn/model_names.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

constexpr const char* kStateKey = "model.spec";

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

}  // namespace

ModelSpec make_model_spec(const Recipe& recipe, const data::DatasetInfo& info) {
  ModelSpec spec;
  spec.featuriser = info.features.featuriser;
  spec.targets = recipe.data.target;
  if (spec.targets.empty()) {
    for (const data::TargetSpec& target : info.targets) spec.targets.push_back(target.name);
  }
  check<UserError>(!spec.targets.empty(), info.path,
                   " has no targets to train on; prepare it with "
                   "--target NAME");
  for (const std::string& name : spec.targets) {
    const std::size_t column = column_of(name, info);
    const data::TargetSpec& target = info.targets[column];
    check<UserError>(target.task == "regression", "target '", name, "' of ", info.path,
                     " is prepared for ", target.task,
                     "; only regression can be trained in this version");
    spec.units.push_back(target.unit);
    spec.mean.push_back(recipe.data.standardize ? info.target_mean[column] : 0.0);
    spec.sd.push_back(recipe.data.standardize ? info.target_sd[column] : 1.0);
  }
  spec.graph.conv = nn::parse_conv(recipe.model.type);
  spec.graph.hidden = recipe.model.hidden;
  spec.graph.layers = recipe.model.layers;
  spec.graph.pool = nn::parse_pool(recipe.model.pool);
  spec.graph.norm = nn::parse_norm(recipe.model.norm);
  spec.graph.activation = nn::parse_activation(recipe.model.activation);
  spec.graph.dropout = recipe.model.dropout;
  spec.graph.residual = recipe.model.residual;
  spec.graph.head_layers = recipe.model.head_layers;
  spec.graph.atom_dims = info.features.atom_dims;
  spec.graph.bond_dims = info.features.bond_dims;
  spec.graph.outputs = static_cast<std::int64_t>(spec.targets.size());
  return spec;
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

std::map<std::string, std::string> to_state(const ModelSpec& spec) {
  const nlohmann::json json = {{"conv", name_of(spec.graph.conv)},
                               {"hidden", spec.graph.hidden},
                               {"layers", spec.graph.layers},
                               {"pool", name_of(spec.graph.pool)},
                               {"norm", name_of(spec.graph.norm)},
                               {"activation", name_of(spec.graph.activation)},
                               {"dropout", spec.graph.dropout},
                               {"residual", spec.graph.residual},
                               {"head_layers", spec.graph.head_layers},
                               {"atom_dims", spec.graph.atom_dims},
                               {"bond_dims", spec.graph.bond_dims},
                               {"featuriser", spec.featuriser},
                               {"targets", spec.targets},
                               {"units", spec.units},
                               {"mean", spec.mean},
                               {"sd", spec.sd}};
  return {{kStateKey, json.dump()}};
}

ModelSpec model_spec_from_state(const std::map<std::string, std::string>& state,
                                const std::string& path) {
  const auto entry = state.find(kStateKey);
  check<IoError>(entry != state.end(), path, " holds no description of its model");
  try {
    const auto json = nlohmann::json::parse(entry->second);
    ModelSpec spec;
    spec.graph.conv = nn::parse_conv(json.at("conv"));
    spec.graph.hidden = json.at("hidden");
    spec.graph.layers = json.at("layers");
    spec.graph.pool = nn::parse_pool(json.at("pool"));
    spec.graph.norm = nn::parse_norm(json.at("norm"));
    spec.graph.activation = nn::parse_activation(json.at("activation"));
    spec.graph.dropout = json.at("dropout");
    spec.graph.residual = json.at("residual");
    spec.graph.head_layers = json.at("head_layers");
    json.at("atom_dims").get_to(spec.graph.atom_dims);
    json.at("bond_dims").get_to(spec.graph.bond_dims);
    json.at("featuriser").get_to(spec.featuriser);
    json.at("targets").get_to(spec.targets);
    json.at("units").get_to(spec.units);
    json.at("mean").get_to(spec.mean);
    json.at("sd").get_to(spec.sd);
    spec.graph.outputs = static_cast<std::int64_t>(spec.targets.size());
    check<IoError>(spec.units.size() == spec.targets.size() &&
                       spec.mean.size() == spec.targets.size() &&
                       spec.sd.size() == spec.targets.size(),
                   path, ": the description of its targets does not add up");
    return spec;
  } catch (const std::exception& error) {
    throw IoError(concat(path, ": the description of its model cannot be read: ", error.what()));
  }
}

}  // namespace moiety::apps

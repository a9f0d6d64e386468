// SPDX-License-Identifier: Apache-2.0
#include "apps/pyg_folder.h"

#include <nlohmann/json.hpp>

#include "apps/exported_head.h"
#include "apps/json_file.h"
#include "apps/text_file.h"
#include "nn/model_names.h"
#include "nn/pyg.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kModelType = "moiety_graph_model";

fs::path config_file(const fs::path& folder) { return folder / "config.json"; }
fs::path weights_file(const fs::path& folder) { return folder / "model.safetensors"; }

std::string last_layer(const nn::GraphModelConfig& config) {
  return "head." + std::to_string(2 * (config.head_layers - 1));
}

nlohmann::ordered_json to_json(const ModelSpec& spec) {
  const nn::GraphModelConfig& c = spec.graph;
  return {{"model_type", kModelType},
          {"conv", name_of(c.conv)},
          {"hidden", c.hidden},
          {"layers", c.layers},
          {"pool", name_of(c.pool)},
          {"norm", name_of(c.norm)},
          {"activation", name_of(c.activation)},
          {"dropout", c.dropout},
          {"residual", c.residual},
          {"head_layers", c.head_layers},
          {"featuriser", spec.featuriser},
          {"atom_dims", c.atom_dims},
          {"bond_dims", c.bond_dims},
          {"task", spec.target_task},
          {"targets", spec.targets},
          {"units", spec.units}};
}

ModelSpec parse_spec(const json& values, const std::string& source) {
  try {
    ModelSpec spec;
    nn::GraphModelConfig& c = spec.graph;
    c.conv = nn::parse_conv(values.at("conv"));
    c.hidden = values.at("hidden");
    c.layers = values.at("layers");
    c.pool = nn::parse_pool(values.at("pool"));
    c.norm = nn::parse_norm(values.at("norm"));
    c.activation = nn::parse_activation(values.at("activation"));
    c.dropout = values.at("dropout");
    c.residual = values.at("residual");
    c.head_layers = values.at("head_layers");
    values.at("featuriser").get_to(spec.featuriser);
    values.at("atom_dims").get_to(c.atom_dims);
    values.at("bond_dims").get_to(c.bond_dims);
    values.at("task").get_to(spec.target_task);
    values.at("targets").get_to(spec.targets);
    values.at("units").get_to(spec.units);
    check<UserError>(spec.units.size() == spec.targets.size(), "targets and units are not as many");
    c.outputs = std::ssize(spec.targets);
    spec.mean.assign(spec.targets.size(), 0);
    spec.sd.assign(spec.targets.size(), 1);
    return spec;
  } catch (const std::exception& error) {
    throw UserError(concat(source, ": ", error.what()));
  }
}

/// Before a model takes memory for what a damaged config.json says.
void check_elements(const nn::Checkpoint& stored, const ModelSpec& spec) {
  double elements = 0;
  for (const auto& [name, tensor] : stored.tensors) elements += static_cast<double>(tensor.numel());
  check<IoError>(nn::count_parameters(spec.graph) <= elements, stored.source(), " has ", elements,
                 " elements, and the model of its config.json needs ",
                 nn::count_parameters(spec.graph), "; the two do not belong together");
}

}  // namespace

bool is_pyg_folder(const fs::path& folder) {
  if (!fs::is_regular_file(config_file(folder))) return false;
  const json config = read_json(config_file(folder));
  return config.is_object() && config.value("model_type", json()) == kModelType;
}

void write_pyg_folder(const Task& task, const fs::path& folder) {
  const auto* model = dynamic_cast<const nn::GraphModel*>(&task.model());
  check<UserError>(model != nullptr,
                   "--format pyg is for graph models (gcn, gin, gine); give "
                   "--format huggingface for a transformer");
  nn::Checkpoint weights = nn::export_state_dict(*model, nn::pyg_names(*model));
  fold_scaler(weights, last_layer(model->config()), task.spec().scaler());
  fs::remove(config_file(folder));  // until all is written, the folder is no model
  weights.save(weights_file(folder));
  write_atomically(config_file(folder), to_json(task.spec()).dump(2) + "\n");
}

std::unique_ptr<Task> load_pyg_folder(const fs::path& folder, Device& device) {
  const std::string source = config_file(folder).string();
  const ModelSpec spec = parse_spec(read_json(config_file(folder)), source);
  const auto stored =
      nn::Checkpoint::load(weights_file(folder), device.host(), nn::Checkpoint::Integrity::any);
  check_elements(stored, spec);
  auto task = make_task(spec, device);
  const auto& model = dynamic_cast<const nn::GraphModel&>(task->model());
  nn::import_state_dict(stored, nn::pyg_names(model), model);
  return task;
}

}  // namespace moiety::apps

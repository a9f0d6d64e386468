// SPDX-License-Identifier: Apache-2.0
#include "apps/huggingface_folder.h"

#include "apps/exported_head.h"
#include "apps/huggingface_config.h"
#include "apps/text_file.h"
#include "data/tokenizer_record.h"
#include "nn/huggingface.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using data::TokenRole;

fs::path config_file(const fs::path& folder) { return folder / "config.json"; }
fs::path weights_file(const fs::path& folder) { return folder / "model.safetensors"; }

HuggingFaceModel model_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::sequence:
      return HuggingFaceModel::sequence;
    case ModelKind::masked_language:
      return HuggingFaceModel::masked_language;
    case ModelKind::causal_language:
      return HuggingFaceModel::causal_language;
    case ModelKind::graph:
      break;
  }
  throw UserError(
      "--format huggingface is for encoders and decoders; give --format pyg for a "
      "graph model");
}

ModelKind kind_of(HuggingFaceModel model) {
  switch (model) {
    case HuggingFaceModel::masked_language:
      return ModelKind::masked_language;
    case HuggingFaceModel::sequence:
      return ModelKind::sequence;
    case HuggingFaceModel::causal_language:
      return ModelKind::causal_language;
  }
  throw Error("unknown model");
}

HuggingFaceConfig describe(const ModelSpec& spec, const data::TokenVocabulary& vocabulary) {
  HuggingFaceConfig out;
  out.model = model_of(spec.kind);
  out.transformer = spec.transformer;
  out.first_token = vocabulary.id(TokenRole::begin);
  out.last_token = vocabulary.id(TokenRole::end);
  if (const auto padding = vocabulary.id(TokenRole::pad)) {
    out.padding = *padding;
  } else {  // its positions would be counted from another token
    check<UserError>(spec.kind == ModelKind::causal_language,
                     "the tokenizer has no padding token, which RoBERTa needs");
  }
  out.targets = spec.targets;
  out.outputs = std::ssize(spec.targets);
  out.regression = spec.target_task == "regression";
  out.labels = !out.regression;
  return out;
}

}  // namespace

void write_huggingface_folder(const Task& task, const fs::path& folder) {
  const ModelSpec& spec = task.spec();
  model_of(spec.kind);
  const auto tokenizer = data::tokenizer_from_json(spec.tokenizer, "the model's tokenizer");
  const HuggingFaceConfig config = describe(spec, tokenizer->vocabulary());
  nn::Checkpoint weights =
      nn::export_state_dict(task.model(), task.state_dict_names(config.padding));
  if (spec.kind == ModelKind::sequence) {
    fold_scaler(weights, "classifier.out_proj", spec.scaler());
  }
  fs::remove(config_file(folder));  // until all is written, the folder is no model
  tokenizer->save(folder);
  weights.save(weights_file(folder));
  write_atomically(config_file(folder), to_json(config).dump(2) + "\n");
}

std::unique_ptr<Task> load_huggingface_folder(const fs::path& folder, Device& device) {
  const HuggingFaceConfig config = read_huggingface_config(config_file(folder));
  check<UserError>(fs::exists(weights_file(folder)), folder.string(),
                   " has no model.safetensors; save the model with save_pretrained(folder, "
                   "safe_serialization=True)");
  const auto tokenizer = data::load_tokenizer(folder);
  check<UserError>(tokenizer->vocabulary().size() <= config.transformer.vocabulary, folder.string(),
                   ": the tokenizer has ", tokenizer->vocabulary().size(),
                   " tokens and the model only ", config.transformer.vocabulary);
  ModelSpec spec;
  spec.kind = kind_of(config.model);
  spec.transformer = config.transformer;
  spec.tokenizer = data::tokenizer_json(*tokenizer);
  if (spec.kind == ModelKind::sequence) {
    check<UserError>(config.regression || config.labels, config_file(folder).string(),
                     ": of classes that exclude each other nothing is predicted here; "
                     "problem_type must be regression or multi_label_classification");
    spec.target_task = config.regression ? "regression" : "binary";
    spec.targets = config.targets;
    spec.units.resize(spec.targets.size());
    spec.mean.assign(spec.targets.size(), 0);
    spec.sd.assign(spec.targets.size(), 1);
  }
  const auto stored =
      nn::Checkpoint::load(weights_file(folder), device.host(), nn::Checkpoint::Integrity::any);
  nn::check_elements(stored, config.transformer);
  auto task = make_task(spec, device);
  nn::import_state_dict(stored, task->state_dict_names(config.padding), task->model());
  return task;
}

}  // namespace moiety::apps

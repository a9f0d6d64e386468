// SPDX-License-Identifier: Apache-2.0
#include "apps/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "apps/dataset_file.h"
#include "apps/html.h"
#include "apps/machine.h"
#include "apps/metric_set.h"
#include "apps/recipe_values.h"
#include "apps/run_record.h"
#include "apps/trained_model.h"
#include "data/dataset.h"
#include "data/tokenizer_record.h"
#include "nn/checkpoint.h"
#include "tensor/checksum.h"
#include "tensor/device.h"
#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 88;
constexpr std::size_t kNameWidth = 24;

json describe_targets(const data::Dataset& dataset) {
  const data::DatasetInfo& info = dataset.info();
  json targets = json::object();
  for (std::size_t t = 0; t < info.targets.size(); ++t) {
    const data::TargetSpec& target = info.targets[t];
    std::int64_t missing = 0;
    std::int64_t ones = 0;
    for (std::int64_t m = 0; m < dataset.size(); ++m) {
      missing += std::isnan(dataset.targets(m)[t]);
      ones += dataset.targets(m)[t] == 1;
    }
    json& out =
        targets[target.name] = {{"unit", target.unit}, {"task", target.task}, {"missing", missing}};
    if (target.task == "regression") {
      out["train_mean"] = info.target_mean[t];
      out["train_sd"] = info.target_sd[t];
    } else {
      out["zeros"] = dataset.size() - missing - ones;
      out["ones"] = ones;
    }
  }
  return targets;
}

void add_graphs(const data::DatasetInfo& info, json& out) {
  out["atoms"] = info.atoms;
  out["edges"] = info.edges;
  out["atoms_in_a_molecule"] = {
      {"least", info.min_atoms}, {"mean", info.mean_atoms}, {"most", info.max_atoms}};
  out["positions"] = info.has_positions;
  out["featuriser"] = info.features.featuriser;
  out["atom_feature_classes"] = info.features.atom_dims;
  out["bond_feature_classes"] = info.features.bond_dims;
  out["degree_histogram"] = info.degree_histogram;
}

/// {"1 to 20": molecules of so many tokens, ...}: at most a dozen steps of a round width.
json describe_lengths(const data::Dataset& dataset) {
  constexpr std::int64_t kMostSteps = 12;
  std::int64_t width = 1;
  for (std::int64_t ten = 1; width * kMostSteps < dataset.info().longest_tokens; ten *= 10) {
    for (const std::int64_t factor : {2, 5, 10}) {
      if (width * kMostSteps < dataset.info().longest_tokens) width = factor * ten;
    }
  }
  std::vector<std::int64_t> counts;
  for (std::int64_t m = 0; m < dataset.size(); ++m) {
    const auto step = static_cast<std::size_t>((std::ssize(dataset.tokens(m)) - 1) / width);
    if (step >= counts.size()) counts.resize(step + 1);
    ++counts[step];
  }
  json out = json::object();
  for (std::size_t step = 0; step < counts.size(); ++step) {
    const std::int64_t first = static_cast<std::int64_t>(step) * width + 1;
    out[width == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, first + width - 1)] =
        counts[step];
  }
  return out;
}

void add_tokens(const data::Dataset& dataset, json& out) {
  const data::DatasetInfo& info = dataset.info();
  const auto tokenizer = data::load_tokenizer_of(dataset);
  const bool words = tokenizer->kind() == data::Tokenizer::Kind::words;
  out["tokens"] = info.tokens;
  out["tokenizer"] = words ? "words of SMILES" : "byte-level BPE";
  out["vocabulary"] = info.vocabulary;
  out["longest_molecule"] = info.longest_tokens;
  out["molecules_by_tokens"] = describe_lengths(dataset);
}

json inspect_dataset(const fs::path& path) {
  check_dataset_file(path);
  const data::Dataset dataset(path.string());
  const data::DatasetInfo& info = dataset.info();
  json out = {{"kind", "data set"},
              {"path", path.string()},
              {"schema", fmt::format("{} {}", info.schema, info.schema_version)},
              {"file_bytes", info.file_bytes},
              {"molecules", info.molecules},
              {"splits", {{"train", info.train}, {"valid", info.valid}, {"test", info.test}}},
              {"targets", describe_targets(dataset)}};
  if (info.has_graphs) add_graphs(info, out);
  if (info.has_tokens) add_tokens(dataset, out);
  out["source"] = info.source;
  out["source_hash"] = info.source_hash;
  return out;
}

json inspect_checkpoint(const fs::path& path) {
  const auto device = make_cpu_device(1);
  const nn::Checkpoint checkpoint =
      nn::Checkpoint::load(path, *device, nn::Checkpoint::Integrity::any);
  json tensors = json::object();
  std::int64_t values = 0;
  std::vector<std::uint64_t> weights;  // hash of each tensor of the model, in order of names
  for (const auto& [name, tensor] : checkpoint.tensors) {
    tensors[name] = concat(name_of(tensor.dtype()), " ", tensor.shape());
    values += tensor.numel();
    if (name.starts_with("model.")) {
      const auto* bytes = static_cast<const std::byte*>(tensor.raw_data());
      weights.push_back(xxh64({bytes, tensor.bytes()}));
    }
  }
  return {{"kind", "checkpoint"},
          {"path", path.string()},
          {"file_bytes", fs::file_size(path)},
          {"weights", fmt::format("{:016x}", xxh64(std::as_bytes(std::span(weights))))},
          {"numbers", values},
          {"tensors", tensors},
          {"state", checkpoint.state}};
}

/// The last line of metrics.jsonl and the one with the best validation.
json describe_progress(const RunRecord& run) {
  json progress = json::object();
  if (run.metrics.empty()) return progress;
  progress["last"] = run.metrics.back();
  const Metric& metric = metric_set_of(object_at(run.metrics.back(), "/valid")).main();
  const nlohmann::json* best = nullptr;
  double best_value = 0;
  for (const nlohmann::json& line : run.metrics) {
    const auto value = number_at(line, fmt::format("/valid/{}", metric.key));
    if (!value) continue;
    const bool better = metric.higher_is_better ? *value > best_value : *value < best_value;
    if (best == nullptr || better) {
      best = &line;
      best_value = *value;
    }
  }
  if (best != nullptr) progress["best"] = *best;
  return progress;
}

json beyond_defaults(const std::string& text, const std::string& name) {
  json changed = json::object();
  const Recipe recipe = parse_recipe(text, name);
  for (const KeyChange& change : changed_keys(default_recipe(recipe.model.type), recipe)) {
    changed[std::string(change.name)] = change.after;
  }
  return changed;
}

json inspect_run(const fs::path& path) {
  const RunFiles files = open_run(path);
  const RunRecord run = load_run(files);
  json checkpoints = json::array();
  for (const CheckpointFile& file : list_checkpoints(files)) checkpoints.push_back(file.step);
  json object = {{"kind", "run"},
                 {"path", path.string()},
                 {"recipe_beyond_defaults", beyond_defaults(run.recipe, files.recipe().string())},
                 {"checkpoints_at_steps", checkpoints},
                 {"validation", describe_progress(run)}};
  for (const char* part :
       {"model", "metrics", "baseline", "parameters", "epochs", "steps", "seconds",
        "molecules_per_second", "device", "precision", "threads", "memory", "stopped_by"}) {
    if (run.summary.contains(part)) object[part] = run.summary[part];
  }
  return object;
}

std::string cut(const std::string& text) {
  return text.size() <= kLongestText ? text : text.substr(0, kLongestText - 4) + " ...";
}

std::string format_member(const std::string& name, const json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return cut(value.get<std::string>());
  if (value.is_number_float()) return format_figure(value.get<double>());
  const bool bytes = name.ends_with("bytes") && value.is_number_integer();
  return bytes ? format_bytes(value.get<std::int64_t>()) : cut(value.dump());
}

void append_members(std::string& out, const json& object, std::size_t indent) {
  for (const auto& [name, value] : object.items()) {
    std::string label = name;
    std::ranges::replace(label, '_', ' ');
    out += std::string(indent, ' ');
    if (value.is_object()) {
      out += label + "\n";
      append_members(out, value, indent + 2);
      continue;
    }
    const std::size_t width = kNameWidth - std::min(indent, kNameWidth);
    out += fmt::format("{:<{}} {}\n", label, width, format_member(name, value));
  }
}

}  // namespace

json inspect(const fs::path& path) {
  check<UserError>(fs::exists(path), path.string(), ": no such file or folder");
  if (fs::is_directory(path)) return inspect_run(path);
  check_input_file(path);
  return is_checkpoint(path) ? inspect_checkpoint(path) : inspect_dataset(path);
}

std::string format_inspection(const json& object) {
  std::string out;
  append_members(out, object, 0);
  return out;
}

}  // namespace moiety::apps

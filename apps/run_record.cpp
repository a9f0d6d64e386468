// SPDX-License-Identifier: Apache-2.0
#include "apps/run_record.h"

#include "apps/metric_set.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The folder's own name, also for "." and "runs/one/".
std::string folder_name(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

const json* find(const json& object, std::string_view pointer) {
  const json::json_pointer place{std::string(pointer)};
  return object.contains(place) ? &object.at(place) : nullptr;
}

}  // namespace

RunRecord load_run(const RunFiles& files) {
  RunRecord run;
  run.name = folder_name(files.root);
  run.summary = fs::exists(files.summary()) ? read_summary(files) : json::object();
  run.metrics = read_metrics(files);
  const bool of_language =
      &metric_set_of(object_at(run.summary, "/metrics/test")) == &language_metrics();
  if (!of_language && fs::exists(files.predictions())) {
    run.predictions = read_predictions(files.predictions());
  }
  run.recipe = read_file(files.recipe());
  return run;
}

std::optional<double> number_at(const json& object, std::string_view pointer) {
  const json* value = find(object, pointer);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::string text_at(const json& object, std::string_view pointer) {
  const json* value = find(object, pointer);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

json object_at(const json& object, std::string_view pointer) {
  const json* value = find(object, pointer);
  return value != nullptr && value->is_object() ? *value : json::object();
}

std::vector<json> scores_by_target(const json& split) {
  std::vector<json> scores;
  const json targets = object_at(split, "/targets");
  for (const auto& [name, of_target] : targets.items()) scores.push_back(of_target);
  if (scores.empty() && !split.empty()) scores.push_back(split);
  return scores;
}

Series curve_of(const RunRecord& run, const std::string& name, std::string_view x,
                std::string_view y) {
  Series series{name, {}, {}};
  for (const json& line : run.metrics) {
    const auto at = number_at(line, x);
    const auto value = number_at(line, y);
    if (!at || !value) continue;
    series.x.push_back(*at);
    series.y.push_back(*value);
  }
  return series;
}

}  // namespace moiety::apps

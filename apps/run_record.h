// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/predictions.h"
#include "apps/run_directory.h"
#include "apps/svg_plot.h"

namespace moiety::apps {

/// All that a page about a run shows.
struct RunRecord {
  std::string name;                        ///< the folder's name
  nlohmann::json summary;                  ///< summary.json; empty while the run is training
  std::vector<nlohmann::json> metrics;     ///< the lines of metrics.jsonl
  std::optional<Predictions> predictions;  ///< of the test split, beside the truth
  std::string recipe;                      ///< recipe.toml
};

/// Reads a run's files. Throws IoError naming the file that is damaged.
RunRecord load_run(const RunFiles& files);

/// The number, text or object at a JSON pointer ("/metrics/test/mae"); nothing where there is none.
std::optional<double> number_at(const nlohmann::json& object, std::string_view pointer);
std::string text_at(const nlohmann::json& object, std::string_view pointer);
nlohmann::json object_at(const nlohmann::json& object, std::string_view pointer);

/// The scores in a split of summary.json, an object a target: the mean over targets of different
/// units says nothing.
std::vector<nlohmann::json> scores_by_target(const nlohmann::json& split);

/// What the lines of metrics.jsonl say at `y` ("/valid/mae") against what they say at `x`
/// ("/epoch"). Lines without either are left out.
Series curve_of(const RunRecord& run, const std::string& name, std::string_view x,
                std::string_view y);

}  // namespace moiety::apps

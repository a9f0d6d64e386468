// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/predictions.h"
#include "apps/run_directory.h"

namespace moiety::apps {

/// All that a page about one run shows.
struct RunRecord {
  std::string name;                     ///< the folder's name
  nlohmann::json summary;               ///< summary.json
  std::vector<nlohmann::json> metrics;  ///< the lines of metrics.jsonl
  std::optional<Predictions> predictions;
  std::string recipe;  ///< recipe.toml
};

/// Reads a run's files. A run without a summary (still training) has an empty object there.
RunRecord load_run(const RunFiles& files);

/// One self-contained HTML page: headline, curves, parity plot, error histogram, tables, recipe.
std::string render_report(const RunRecord& run);

/// One page that compares runs: a table and the validation curves over each other.
std::string render_comparison(const std::vector<RunRecord>& runs);

/// Renders report.html of a run from its other files.
void write_report(const RunFiles& files);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/result_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace moiety::apps {
namespace {

struct Row {
  std::string name;
  std::optional<double> mae;
  std::optional<double> rmse;
  std::optional<double> r2;
  std::string unit;
  std::string effort;  ///< epochs and time; empty for baselines
};

std::string figure(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

Row row_of(std::string name, const nlohmann::json& summary, const std::string& scores) {
  return {std::move(name),
          number_at(summary, scores + "/mae"),
          number_at(summary, scores + "/rmse"),
          number_at(summary, scores + "/r2"),
          text_at(summary, scores + "/unit"),
          ""};
}

std::vector<Row> rows_of(const std::vector<RunRecord>& runs) {
  std::vector<Row> rows;
  std::set<std::pair<std::string, double>> baselines;  // runs on one data set share theirs
  for (const RunRecord& run : runs) {
    const std::string model = text_at(run.summary, "/model");
    Row row = row_of(runs.size() == 1 ? model : fmt::format("{} ({})", run.name, model),
                     run.summary, "/metrics/test");
    const auto seconds = number_at(run.summary, "/seconds");
    if (row.mae && seconds) {
      row.effort = fmt::format("{:.0f} epochs, {:.0f} s",
                               number_at(run.summary, "/epochs").value_or(0), *seconds);
    } else {
      row.effort = "not finished";
    }
    rows.push_back(row);
    if (!run.summary.contains("baseline")) continue;
    for (const auto& [name, splits] : run.summary["baseline"].items()) {
      Row baseline = row_of(name, run.summary, "/baseline/" + name + "/test");
      if (baseline.mae && baselines.emplace(name, *baseline.mae).second) rows.push_back(baseline);
    }
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) {
    return row.mae.value_or(std::numeric_limits<double>::infinity());
  });
  return rows;
}

}  // namespace

std::string result_screen(const std::vector<RunRecord>& runs) {
  const std::vector<Row> rows = rows_of(runs);
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  std::string out =
      fmt::format("{:<{}}  {:>9}  {:>9}  {:>7}\n", "test split", width, "MAE", "RMSE", "R2");
  for (const Row& row : rows) {
    out += fmt::format("{:<{}}  {:>9}  {:>9}  {:>7}  {}{}{}\n", row.name, width, figure(row.mae),
                       figure(row.rmse), figure(row.r2), row.unit, row.effort.empty() ? "" : "  ",
                       row.effort);
  }
  return out;
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/result_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "apps/memory_use.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

struct Row {
  std::string name;
  std::string target;
  std::optional<double> mae;
  std::optional<double> rmse;
  std::optional<double> r2;
  std::string unit;
  std::string effort;  ///< epochs and time; empty for baselines
};

std::string figure(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

Row row_of(const std::string& name, const json& scores, const std::string& effort) {
  return {name,
          text_at(scores, "/target"),
          number_at(scores, "/mae"),
          number_at(scores, "/rmse"),
          number_at(scores, "/r2"),
          text_at(scores, "/unit"),
          effort};
}

std::vector<Row> rows_of(const std::vector<RunRecord>& runs) {
  std::vector<Row> rows;
  // Runs on one target of one data set share their baselines.
  std::set<std::tuple<std::string, std::string, double>> baselines;
  for (const RunRecord& run : runs) {
    const std::string model = text_at(run.summary, "/model");
    const std::string name = runs.size() == 1 ? model : fmt::format("{} ({})", run.name, model);
    const auto scores = scores_by_target(object_at(run.summary, "/metrics/test"));
    const std::string effort =
        fmt::format("{:.0f} epochs, {:.0f} s", number_at(run.summary, "/epochs").value_or(0),
                    number_at(run.summary, "/seconds").value_or(0));
    for (const json& of_target : scores) rows.push_back(row_of(name, of_target, effort));
    if (scores.empty()) rows.push_back(row_of(name, json::object(), "not finished"));
    const json others = object_at(run.summary, "/baseline");
    for (const auto& [baseline, splits] : others.items()) {
      for (const json& of_target : scores_by_target(object_at(splits, "/test"))) {
        const Row row = row_of(baseline, of_target, "");
        if (row.mae && baselines.emplace(baseline, row.target, *row.mae).second) {
          rows.push_back(row);
        }
      }
    }
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) {
    const double mae = row.mae.value_or(std::numeric_limits<double>::infinity());
    return std::tuple(row.target.empty(), row.target, mae);
  });
  return rows;
}

}  // namespace

std::string result_screen(const std::vector<RunRecord>& runs) {
  const std::vector<Row> rows = rows_of(runs);
  const std::string head = "test split";
  const std::string target_head = "target";
  std::size_t width = head.size();
  std::size_t target_width = target_head.size();
  std::set<std::string> targets;
  for (const Row& row : rows) {
    width = std::max(width, row.name.size());
    target_width = std::max(target_width, row.target.size());
    if (!row.target.empty()) targets.insert(row.target);
  }
  const auto column = [&](const std::string& target) {
    return targets.size() > 1 ? fmt::format("  {:<{}}", target, target_width) : "";
  };
  std::string out = fmt::format("{:<{}}{}  {:>9}  {:>9}  {:>7}\n", head, width, column(target_head),
                                "MAE", "RMSE", "R2");
  for (const Row& row : rows) {
    out += fmt::format("{:<{}}{}  {:>9}  {:>9}  {:>7}  {}{}{}\n", row.name, width,
                       column(row.target), figure(row.mae), figure(row.rmse), figure(row.r2),
                       row.unit, row.effort.empty() ? "" : "  ", row.effort);
  }
  for (const RunRecord& run : runs) {
    const std::string memory = describe_memory(run.summary);
    if (memory.empty()) continue;
    out += fmt::format("memory{}: {}\n", runs.size() > 1 ? " of " + run.name : "", memory);
  }
  return out;
}

}  // namespace moiety::apps

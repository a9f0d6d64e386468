// SPDX-License-Identifier: Apache-2.0
#include "apps/result_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "apps/memory_use.h"
#include "apps/metric_set.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

struct Row {
  std::string name;
  std::string target;
  const MetricSet* set;
  std::vector<std::optional<double>> values;  ///< one a metric
  std::string unit;
  std::string effort;  ///< epochs and time; empty for baselines
};

std::string figure(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

Row row_of(const std::string& name, const json& scores, const std::string& effort) {
  Row row{name, text_at(scores, "/target"), &metric_set_of(scores),
          {},   text_at(scores, "/unit"),   effort};
  for (const Metric& metric : row.set->metrics) {
    row.values.push_back(number_at(scores, fmt::format("/{}", metric.key)));
  }
  return row;
}

/// The smaller, the higher in the table.
double rank_of(const Row& row) {
  const double value = row.values.front().value_or(std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  return row.set->main().higher_is_better ? -value : value;
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
        if (row.values.front() &&
            baselines.emplace(baseline, row.target, *row.values.front()).second) {
          rows.push_back(row);
        }
      }
    }
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) {
    return std::tuple(row.values.front() ? 0 : 1, row.target, rank_of(row));
  });
  return rows;
}

/// The rows that are judged in one way.
std::string table(const MetricSet& set, const std::vector<Row>& rows) {
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
  std::string out = fmt::format("{:<{}}{}", head, width, column(target_head));
  for (const Metric& metric : set.metrics) out += fmt::format("  {:>9}", metric.title);
  out += "\n";
  for (const Row& row : rows) {
    out += fmt::format("{:<{}}{}", row.name, width, column(row.target));
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const std::size_t cell = std::max<std::size_t>(9, set.metrics[i].title.size());
      out += fmt::format("  {:>{}}", figure(row.values[i]), cell);
    }
    if (!row.unit.empty()) out += "  " + row.unit;
    out += fmt::format("{}{}\n", row.effort.empty() ? "" : "  ", row.effort);
  }
  return out;
}

}  // namespace

std::string result_screen(const std::vector<RunRecord>& runs) {
  const std::vector<Row> rows = rows_of(runs);
  std::string out;
  for (const MetricSet* set : {&regression_metrics(), &binary_metrics(), &language_metrics()}) {
    std::vector<Row> own;
    std::ranges::copy_if(rows, std::back_inserter(own),
                         [&](const Row& row) { return row.set == set; });
    if (!own.empty()) out += table(*set, own);
  }
  for (const RunRecord& run : runs) {
    const std::string chosen_by = text_at(run.summary, "/chosen_by");
    if (!chosen_by.empty() && runs.size() == 1) out += "weights chosen by " + chosen_by + "\n";
    const std::string memory = describe_memory(run.summary);
    if (memory.empty()) continue;
    out += fmt::format("memory{}: {}\n", runs.size() > 1 ? " of " + run.name : "", memory);
  }
  return out;
}

}  // namespace moiety::apps

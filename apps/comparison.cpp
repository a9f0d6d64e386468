// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "apps/html.h"
#include "apps/metric_set.h"
#include "apps/recipe_keys.h"
#include "apps/recipe_values.h"
#include "apps/report.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

struct ResultColumn {
  std::string_view title;
  std::string_view place;
  double unit = 1;
};
/// Of the summary.
constexpr ResultColumn kRunColumns[] = {{"parameters", "/parameters"},
                                        {"epochs", "/epochs"},
                                        {"seconds", "/seconds"},
                                        {"molecules / s", "/molecules_per_second"},
                                        {"peak memory (MiB)", "/memory/peak_bytes", 1 << 20},
                                        {"seed", "/seed"}};

/// What a run reached for one target: {"test": scores, "valid": scores}.
struct Result {
  const RunRecord* run;
  std::string target;
  nlohmann::json scores;
};

/// Of results that are judged in one way: grouped by target, the best test result first; a run that
/// has not ended has one without a target.
std::vector<Result> results_of(const std::vector<RunRecord>& runs, const MetricSet& set) {
  std::vector<Result> results;
  for (const RunRecord& run : runs) {
    const json tests = object_at(run.summary, "/metrics/test");
    if (tests.empty() && &set == &regression_metrics())
      results.push_back({&run, "", json::object()});
    for (const json& test : scores_by_target(tests)) {
      if (&metric_set_of(test) != &set) continue;
      results.push_back({&run, text_at(test, "/target"), {{"test", test}}});
      for (const json& valid : scores_by_target(object_at(run.summary, "/metrics/valid"))) {
        if (text_at(valid, "/target") == results.back().target) {
          results.back().scores["valid"] = valid;
        }
      }
    }
  }
  const std::string main = fmt::format("/test/{}", set.main().key);
  std::ranges::stable_sort(results, {}, [&](const Result& result) {
    const auto value = number_at(result.scores, main);
    const double rank = set.main().higher_is_better ? -value.value_or(0) : value.value_or(0);
    return std::tuple(result.scores.empty(), result.target, !value, rank);
  });
  return results;
}

std::string cell(std::optional<double> value, double unit = 1) {
  return fmt::format("<td>{}</td>", value ? format_figure(*value / unit) : "-");
}

std::string table(const std::string& head, const std::string& rows) {
  return fmt::format("<div class=\"card scroll\"><table>\n<tr><th></th>{}</tr>\n{}</table></div>\n",
                     head, rows);
}

std::string results_table(const std::vector<RunRecord>& runs, const MetricSet& set) {
  std::string head = "<th>target</th>";
  for (const Metric& metric : set.metrics) head += fmt::format("<th>test {}</th>", metric.title);
  head += fmt::format("<th>valid {}</th><th>unit</th>", set.main().title);
  for (const auto& column : kRunColumns) head += fmt::format("<th>{}</th>", column.title);
  std::string rows;
  const std::string* target = nullptr;  // of the row above
  const std::vector<Result> results = results_of(runs, set);
  for (const Result& result : results) {
    const bool best = target == nullptr || *target != result.target;
    target = &result.target;
    rows += fmt::format("<tr{}><td>{}</td><td>{}</td>", best ? " class=\"best\"" : "",
                        escape_html(result.run->name), escape_html(result.target));
    for (const Metric& metric : set.metrics) {
      rows += cell(number_at(result.scores, fmt::format("/test/{}", metric.key)));
    }
    rows += cell(number_at(result.scores, fmt::format("/valid/{}", set.main().key)));
    rows += fmt::format("<td>{}</td>", escape_html(text_at(result.scores, "/test/unit")));
    for (const auto& column : kRunColumns)
      rows += cell(number_at(result.run->summary, column.place), column.unit);
    rows += "</tr>\n";
  }
  return rows.empty() ? "" : table(head, rows);
}

/// The values of a recipe's keys, in the order of the keys; none where it cannot be read any more.
std::vector<std::string> recipe_values(const RunRecord& run) {
  std::vector<std::string> values;
  try {
    Recipe recipe = parse_recipe(run.recipe, run.name);
    for (const Key& key : recipe_keys(recipe)) values.push_back(format_value(key.field));
  } catch (const UserError&) {
    // Written by another version: the page goes without it.
  }
  return values;
}

/// A row for each key that is not the same in all runs.
std::string recipe_differences(const std::vector<RunRecord>& runs) {
  std::vector<std::vector<std::string>> values;
  std::string head;
  for (const RunRecord& run : runs) {
    std::vector<std::string> of_run = recipe_values(run);
    if (of_run.empty()) continue;
    values.push_back(std::move(of_run));
    head += fmt::format("<th>{}</th>", escape_html(run.name));
  }
  Recipe names_only;
  std::string rows;
  const std::vector<Key> keys = recipe_keys(names_only);
  for (std::size_t k = 0; k < keys.size() && !values.empty(); ++k) {
    const auto same = [&](const auto& run) { return run[k] == values.front()[k]; };
    if (std::ranges::all_of(values, same)) continue;
    rows += fmt::format("<tr><td>{}</td>", keys[k].name);
    for (const auto& run : values) rows += fmt::format("<td>{}</td>", escape_html(run[k]));
    rows += "</tr>\n";
  }
  return rows.empty() ? "" : "<h2>Where the recipes differ</h2>\n" + table(head, rows);
}

std::string overlay(const std::vector<RunRecord>& runs, std::string_view x, std::string_view y,
                    const std::string& x_label, const std::string& y_label) {
  std::vector<Series> series;
  for (const RunRecord& run : runs) {
    Series curve = curve_of(run, run.name, x, y);
    if (!curve.x.empty()) series.push_back(std::move(curve));
  }
  if (series.empty()) return "";
  return fmt::format("<div class=\"card\">{}</div>\n", line_plot(series, x_label, y_label));
}

}  // namespace

std::string render_comparison(const std::vector<RunRecord>& runs) {
  std::string body = fmt::format("<h1>Comparison of {} runs</h1>\n<h2>Results</h2>\n", runs.size());
  const auto sets = {&regression_metrics(), &binary_metrics(), &language_metrics()};
  for (const MetricSet* set : sets) body += results_table(runs, *set);
  body += "<h2>Training</h2>\n<div class=\"grid\">\n";
  for (const MetricSet* set : sets) {
    const std::string place = fmt::format("/valid/{}", set->main().key);
    const std::string label = fmt::format("validation {}", set->main().title);
    body += overlay(runs, "/epoch", place, "epoch", label);
    body += overlay(runs, "/seconds", place, "seconds of training", label);
  }
  body += overlay(runs, "/epoch", "/train/loss", "epoch", "training loss");
  body += "</div>\n";
  body += recipe_differences(runs);
  return html_page("Comparison of runs", body);
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/html.h"
#include "apps/recipe_keys.h"
#include "apps/recipe_values.h"
#include "apps/report.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

struct ResultColumn {
  std::string_view title;
  std::string_view place;
};
constexpr ResultColumn kColumns[] = {{"test MAE", "/metrics/test/mae"},
                                     {"test RMSE", "/metrics/test/rmse"},
                                     {"R<sup>2</sup>", "/metrics/test/r2"},
                                     {"valid MAE", "/metrics/valid/mae"},
                                     {"parameters", "/parameters"},
                                     {"epochs", "/epochs"},
                                     {"seconds", "/seconds"},
                                     {"molecules / s", "/molecules_per_second"},
                                     {"seed", "/seed"}};

std::string cell(std::optional<double> value) {
  return fmt::format("<td>{}</td>", value ? format_figure(*value) : "-");
}

double test_error(const RunRecord& run) {
  return number_at(run.summary, "/metrics/test/mae")
      .value_or(std::numeric_limits<double>::infinity());
}

std::string table(const std::string& head, const std::string& rows) {
  return fmt::format("<div class=\"card scroll\"><table>\n<tr><th></th>{}</tr>\n{}</table></div>\n",
                     head, rows);
}

/// Best test error first.
std::string results_table(std::vector<RunRecord> runs) {
  std::ranges::stable_sort(runs, {}, test_error);
  std::string head, rows;
  for (const ResultColumn& column : kColumns) head += fmt::format("<th>{}</th>", column.title);
  for (const RunRecord& run : runs) {
    rows += fmt::format("<tr{}><td>{}</td>", &run == &runs.front() ? " class=\"best\"" : "",
                        escape_html(run.name));
    for (const ResultColumn& column : kColumns) rows += cell(number_at(run.summary, column.place));
    rows +=
        fmt::format("<td>{}</td></tr>\n", escape_html(text_at(run.summary, "/metrics/test/unit")));
  }
  return table(head + "<th>unit</th>", rows);
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
  for (const RunRecord& run : runs) series.push_back(curve_of(run, run.name, x, y));
  return fmt::format("<div class=\"card\">{}</div>\n", line_plot(series, x_label, y_label));
}

}  // namespace

std::string render_comparison(const std::vector<RunRecord>& runs) {
  std::string body = fmt::format("<h1>Comparison of {} runs</h1>\n<h2>Results</h2>\n", runs.size());
  body += results_table(runs);
  body += "<h2>Training</h2>\n<div class=\"grid\">\n";
  body += overlay(runs, "/epoch", "/valid/mae", "epoch", "validation MAE");
  body += overlay(runs, "/seconds", "/valid/mae", "seconds of training", "validation MAE");
  body += overlay(runs, "/epoch", "/train/loss", "epoch", "training loss");
  body += "</div>\n";
  body += recipe_differences(runs);
  return html_page("Comparison of runs", body);
}

}  // namespace moiety::apps

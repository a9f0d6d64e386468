// SPDX-License-Identifier: Apache-2.0
#include "apps/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/html.h"
#include "apps/machine.h"
#include "apps/memory_use.h"
#include "apps/metric_set.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

std::string figure(std::optional<double> value) { return value ? format_figure(*value) : "-"; }

struct Bar {
  std::string name;
  double value;
};

/// The model's main test score for a target and the baselines', the model first.
std::vector<Bar> score_bars(const RunRecord& run, const json& own) {
  const std::string place = "/" + std::string(metric_set_of(own).main().key);
  std::vector<Bar> bars;
  if (const auto value = number_at(own, place)) bars.push_back({"this model", *value});
  const json baselines = object_at(run.summary, "/baseline");
  for (const auto& [name, splits] : baselines.items()) {
    for (const json& scores : scores_by_target(object_at(splits, "/test"))) {
      const auto value = number_at(scores, place);
      if (value && text_at(scores, "/target") == text_at(own, "/target"))
        bars.push_back({name, *value});
    }
  }
  return bars;
}

std::string draw_bars(const std::vector<Bar>& bars, const std::string& unit) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  std::string html;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double share = most > 0 ? 100 * bars[i].value / most : 0;
    html += fmt::format(
        "<div><div class=\"bar-label\"><span>{}</span><span>{} {}</span></div>"
        "<div class=\"track\"><div class=\"fill{}\" style=\"width:{:.1f}%\"></div></div></div>\n",
        escape_html(bars[i].name), format_figure(bars[i].value), escape_html(unit),
        i == 0 ? " own" : "", share);
  }
  return fmt::format("<div class=\"bars\">\n{}</div>\n", html);
}

/// The large figure of one target.
std::string headline_result(const RunRecord& run, const json& scores) {
  const MetricSet& set = metric_set_of(scores);
  const std::string unit = text_at(scores, "/unit");
  const std::string target = text_at(scores, "/target");
  std::string others;
  for (const Metric& metric : set.metrics.subspan(1)) {
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", metric.title,
                          figure(number_at(scores, fmt::format("/{}", metric.key))));
  }
  return fmt::format(
      "<h3>Test {}{}{}</h3>\n<div class=\"big\">{} <small>{}</small></div>\n"
      "<p class=\"note\">{}, over {} {} the model has not seen.</p>\n"
      "{}",
      set.main().title, target.empty() ? "" : ", ", escape_html(target),
      figure(number_at(scores, fmt::format("/{}", set.main().key))), escape_html(unit), others,
      figure(number_at(scores, fmt::format("/{}", set.counted))), set.counted,
      draw_bars(score_bars(run, scores), unit));
}

std::string fact_list(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html;
  for (const auto& [name, value] : facts) {
    if (value.empty() || value == "-") continue;
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  }
  return fmt::format("<dl class=\"facts\">\n{}</dl>\n", html);
}

std::string format_duration(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (*seconds < 120) return fmt::format("{:.1f} s", *seconds);
  const auto whole = static_cast<long>(std::lround(*seconds));
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string run_facts(const json& summary) {
  const auto whole = [&](std::string_view place) {
    const auto value = number_at(summary, place);
    return value ? fmt::format("{:.0f}", *value) : "-";
  };
  return fact_list({{"training", format_duration(number_at(summary, "/seconds"))},
                    {"ended by", text_at(summary, "/stopped_by")},
                    {"weights chosen by", text_at(summary, "/chosen_by")},
                    {"epochs", whole("/epochs")},
                    {"steps", whole("/steps")},
                    {"parameters", whole("/parameters")},
                    {"molecules a second", figure(number_at(summary, "/molecules_per_second"))},
                    {"training molecules", whole("/molecules/train")},
                    {"seed", whole("/seed")},
                    {"device", text_at(summary, "/device")},
                    {"precision", text_at(summary, "/precision")},
                    {"threads", whole("/threads")},
                    {"processes", whole("/world_size")},
                    {"memory", describe_memory(summary)}});
}

/// "NVIDIA H200, NVIDIA H200".
std::string gpu_names(const json& machine) {
  std::string names;
  for (const json& gpu : machine.value("gpu_list", json::array())) {
    names += (names.empty() ? "" : ", ") + text_at(gpu, "/name");
  }
  return names;
}

std::string curve_card(const std::string& title, std::vector<Series> series,
                       const std::string& y_label) {
  std::erase_if(series, [](const Series& s) { return s.x.empty(); });
  return series.empty() ? "" : card(title, line_plot(series, "epoch", y_label));
}

std::string score_row(const std::string& name, const json& scores, const MetricSet& set) {
  std::string cells;
  for (const Metric& metric : set.metrics) {
    cells += fmt::format("<td>{}</td>", figure(number_at(scores, fmt::format("/{}", metric.key))));
  }
  return fmt::format("<tr><td>{}</td>{}<td>{}</td><td>{}</td></tr>\n", escape_html(name), cells,
                     escape_html(text_at(scores, "/unit")),
                     figure(number_at(scores, fmt::format("/{}", set.counted))));
}

std::string split_rows(const std::string& name, const json& split, const MetricSet& set) {
  std::string rows;
  const std::vector<json> targets = scores_by_target(split);
  for (const json& scores : targets) {
    rows += score_row(targets.size() > 1 ? name + ", " + text_at(scores, "/target") : name, scores,
                      set);
  }
  return rows;
}

}  // namespace

std::string headline(const RunRecord& run) {
  std::string results;
  for (const json& scores : scores_by_target(object_at(run.summary, "/metrics/test"))) {
    results += headline_result(run, scores);
  }
  if (results.empty()) {
    return "<div class=\"headline\"><div class=\"card\">No result yet: the training has not "
           "ended.</div></div>\n";
  }
  return fmt::format("<div class=\"headline\">\n<div class=\"card\">\n{}</div>\n{}</div>\n",
                     results, card("The run", run_facts(run.summary)));
}

std::string training_curves(const RunRecord& run) {
  const auto curve = [&](const std::string& name, std::string_view place) {
    return curve_of(run, name, "/epoch", place);
  };
  std::string cards = curve_card(
      "Loss", {curve("training", "/train/loss"), curve("validation", "/valid/loss")}, "loss");
  const MetricSet& set =
      metric_set_of(run.metrics.empty() ? json::object() : object_at(run.metrics.back(), "/valid"));
  const std::string unit = text_at(run.summary, "/metrics/test/unit");
  for (std::size_t i = 0; i < set.metrics.size();) {
    const Metric& first = set.metrics[i];
    std::vector<Series> series;
    for (; i < set.metrics.size() && set.metrics[i].curve == first.curve; ++i) {
      series.push_back(
          curve(std::string(set.metrics[i].title), fmt::format("/valid/{}", set.metrics[i].key)));
    }
    std::string label = series.size() > 1 ? "score" : std::string(first.title);
    if (first.has_unit) label = unit.empty() ? "error" : fmt::format("error ({})", unit);
    if (!first.curve.empty()) cards += curve_card(std::string(first.curve), series, label);
  }
  cards += curve_card("Learning rate", {curve("learning rate", "/lr")}, "learning rate") +
           curve_card("Gradient norm", {curve("gradient norm", "/train/grad_norm")}, "norm");
  return section("Training", grid(cards));
}

std::string scores_table(const RunRecord& run) {
  const json metrics = object_at(run.summary, "/metrics");
  const std::vector<json> tests = scores_by_target(object_at(metrics, "/test"));
  const MetricSet& set = metric_set_of(tests.empty() ? json::object() : tests.front());
  std::string rows;
  for (const char* split : {"train", "valid", "test"}) {
    if (metrics.contains(split)) rows += split_rows(split, metrics[split], set);
  }
  const json baselines = object_at(run.summary, "/baseline");
  for (const auto& [name, splits] : baselines.items()) {
    for (const auto& [split, scores] : splits.items())
      rows += split_rows(name + ", " + split, scores, set);
  }
  if (rows.empty()) return "";
  std::string head;
  for (const Metric& metric : set.metrics) head += fmt::format("<th>{}</th>", metric.title);
  return section("Scores",
                 fmt::format("<div class=\"card scroll\"><table>\n<tr><th></th>{}<th>unit</th>"
                             "<th>{}</th></tr>\n{}</table></div>\n",
                             head, set.counted, rows));
}

std::string recipe_and_machine(const RunRecord& run) {
  const json machine = run.summary.value("machine", json::object());
  const auto memory = number_at(machine, "/memory_bytes");
  const std::string facts =
      fact_list({{"CPU", text_at(machine, "/cpu")},
                 {"cores usable", figure(number_at(machine, "/cores"))},
                 {"vector instructions", text_at(machine, "/vector_instructions")},
                 {"memory", memory ? format_bytes(static_cast<std::int64_t>(*memory)) : "-"},
                 {"GPUs", gpu_names(machine)},
                 {"dense products", text_at(machine, "/gemm")},
                 {"host", text_at(machine, "/host")},
                 {"system", text_at(machine, "/system")},
                 {"moiety", text_at(machine, "/version")}});
  return section("Recipe", fmt::format("<details class=\"card\"><summary>recipe.toml, complete"
                                       "</summary>\n<pre>{}</pre></details>\n",
                                       escape_html(run.recipe))) +
         (machine.empty() ? "" : section("Machine", "<div class=\"card\">" + facts + "</div>\n"));
}

}  // namespace moiety::apps

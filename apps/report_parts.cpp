// SPDX-License-Identifier: Apache-2.0
#include "apps/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/html.h"
#include "apps/machine.h"
#include "apps/memory_use.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

std::string card(const std::string& title, const std::string& content) {
  return fmt::format("<div class=\"card\">\n<h3>{}</h3>\n{}</div>\n", escape_html(title), content);
}

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", escape_html(title), content);
}

std::string grid(const std::string& cards) {
  return cards.empty() ? "" : fmt::format("<div class=\"grid\">\n{}</div>\n", cards);
}

std::string figure(std::optional<double> value) { return value ? format_figure(*value) : "-"; }

struct Bar {
  std::string name;
  double mae;
};

/// The model's test MAE for a target and the baselines', the model first.
std::vector<Bar> error_bars(const RunRecord& run, const json& own) {
  std::vector<Bar> bars;
  if (const auto mae = number_at(own, "/mae")) bars.push_back({"this model", *mae});
  const json baselines = object_at(run.summary, "/baseline");
  for (const auto& [name, splits] : baselines.items()) {
    for (const json& scores : scores_by_target(object_at(splits, "/test"))) {
      const auto mae = number_at(scores, "/mae");
      if (mae && text_at(scores, "/target") == text_at(own, "/target"))
        bars.push_back({name, *mae});
    }
  }
  return bars;
}

std::string draw_bars(const std::vector<Bar>& bars, const std::string& unit) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.mae);
  std::string html;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double share = most > 0 ? 100 * bars[i].mae / most : 0;
    html += fmt::format(
        "<div><div class=\"bar-label\"><span>{}</span><span>{} {}</span></div>"
        "<div class=\"track\"><div class=\"fill{}\" style=\"width:{:.1f}%\"></div></div></div>\n",
        escape_html(bars[i].name), format_figure(bars[i].mae), escape_html(unit),
        i == 0 ? " own" : "", share);
  }
  return fmt::format("<div class=\"bars\">\n{}</div>\n", html);
}

/// The large figure of one target.
std::string headline_result(const RunRecord& run, const json& scores) {
  const std::string unit = text_at(scores, "/unit");
  const std::string target = text_at(scores, "/target");
  return fmt::format(
      "<h3>Test MAE{}{}</h3>\n<div class=\"big\">{} <small>{}</small></div>\n"
      "<p class=\"note\">RMSE {}, R<sup>2</sup> {}, over {} molecules the model has not seen.</p>\n"
      "{}",
      target.empty() ? "" : ", ", escape_html(target), figure(number_at(scores, "/mae")),
      escape_html(unit), figure(number_at(scores, "/rmse")), figure(number_at(scores, "/r2")),
      figure(number_at(scores, "/molecules")), draw_bars(error_bars(run, scores), unit));
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

/// A target's values for which both truth and prediction are finite.
struct Pairs {
  std::vector<double> truth;
  std::vector<double> prediction;
  std::vector<double> error;
  std::size_t left_out = 0;
};

Pairs pairs_of(const Predictions& predictions, std::size_t target) {
  Pairs pairs;
  for (std::size_t i = target; i < predictions.truth.size(); i += predictions.targets.size()) {
    const double truth = predictions.truth[i], prediction = predictions.prediction[i];
    if (!std::isfinite(truth) || !std::isfinite(prediction)) {
      ++pairs.left_out;
      continue;
    }
    pairs.truth.push_back(truth);
    pairs.prediction.push_back(prediction);
    pairs.error.push_back(prediction - truth);
  }
  return pairs;
}

std::string parity_note(const Pairs& pairs) {
  std::string note = fmt::format("{} molecules", pairs.truth.size());
  if (pairs.truth.size() > kMostPoints) {
    note += ", counted in small squares, stronger colour is more";
  }
  if (pairs.left_out > 0) note += fmt::format("; {} without a value left out", pairs.left_out);
  return fmt::format("<p class=\"note\">{}.</p>\n", note);
}

/// The scores of target `name` in a split: those of the split itself when it has one target.
const json& target_scores(const json& split, const std::string& name) {
  const auto targets = split.find("targets");
  return targets != split.end() && targets->contains(name) ? (*targets)[name] : split;
}

std::string target_plots(const RunRecord& run, std::size_t target) {
  const Pairs pairs = pairs_of(*run.predictions, target);
  if (pairs.truth.empty()) return "";
  const json split = run.summary.value(json::json_pointer("/metrics/test"), json::object());
  const std::string& column = run.predictions->targets[target];
  const json& scores = target_scores(split, column);
  const std::string name = scores.value("target", column);
  const std::string unit = scores.value("unit", "");
  return card(name + ": prediction and truth",
              parity_plot(pairs.truth, pairs.prediction, unit) + parity_note(pairs)) +
         card(name + ": errors",
              error_histogram(pairs.error, unit) +
                  "<p class=\"note\">The outermost columns hold what lies further out.</p>\n");
}

std::string score_row(const std::string& name, const json& scores) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      escape_html(name), figure(number_at(scores, "/mae")), figure(number_at(scores, "/rmse")),
      figure(number_at(scores, "/r2")), escape_html(text_at(scores, "/unit")),
      figure(number_at(scores, "/molecules")));
}

std::string split_rows(const std::string& name, const json& split) {
  std::string rows;
  const std::vector<json> targets = scores_by_target(split);
  for (const json& scores : targets) {
    rows += score_row(targets.size() > 1 ? name + ", " + text_at(scores, "/target") : name, scores);
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
  const std::string unit = text_at(run.summary, "/metrics/test/unit");
  const auto curve = [&](const std::string& name, std::string_view place) {
    return curve_of(run, name, "/epoch", place);
  };
  const std::string cards =
      curve_card("Loss", {curve("training", "/train/loss"), curve("validation", "/valid/loss")},
                 "loss") +
      curve_card("Validation error", {curve("MAE", "/valid/mae"), curve("RMSE", "/valid/rmse")},
                 unit.empty() ? "error" : fmt::format("error ({})", unit)) +
      curve_card("Learning rate", {curve("learning rate", "/lr")}, "learning rate") +
      curve_card("Gradient norm", {curve("gradient norm", "/train/grad_norm")}, "norm");
  return section("Training", grid(cards));
}

std::string test_plots(const RunRecord& run, const std::filesystem::path& folder) {
  if (!run.predictions) return "";
  std::string cards;
  for (std::size_t t = 0; t < run.predictions->targets.size(); ++t) cards += target_plots(run, t);
  if (cards.empty()) return "";
  const std::string file = RunFiles{folder}.predictions().string();
  return section("Test set",
                 grid(cards) + fmt::format("<p class=\"note\">Molecule by molecule: <a href=\"{}\">"
                                           "predictions_test.csv</a></p>\n",
                                           escape_html(file)));
}

std::string scores_table(const RunRecord& run) {
  std::string rows;
  for (const char* split : {"train", "valid", "test"}) {
    const json metrics = run.summary.value("metrics", json::object());
    if (metrics.contains(split)) rows += split_rows(split, metrics[split]);
  }
  const json baselines = run.summary.value("baseline", json::object());
  for (const auto& [name, splits] : baselines.items()) {
    for (const auto& [split, scores] : splits.items())
      rows += split_rows(name + ", " + split, scores);
  }
  if (rows.empty()) return "";
  return section("Scores",
                 "<div class=\"card scroll\"><table>\n<tr><th></th><th>MAE</th><th>RMSE</th>"
                 "<th>R<sup>2</sup></th><th>unit</th><th>molecules</th></tr>\n" +
                     rows + "</table></div>\n");
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

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "apps/classification_metrics.h"
#include "apps/html.h"
#include "apps/metric_set.h"
#include "apps/report_parts.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

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

std::string note_on(const Pairs& pairs, bool in_squares) {
  std::string note = fmt::format("{} molecules", pairs.truth.size());
  if (in_squares) note += ", counted in small squares, stronger colour is more";
  if (pairs.left_out > 0) note += fmt::format("; {} without a value left out", pairs.left_out);
  return fmt::format("<p class=\"note\">{}.</p>\n", note);
}

std::string error_plots(const Pairs& pairs, const std::string& name, const std::string& unit) {
  return card(name + ": prediction and truth",
              parity_plot(pairs.truth, pairs.prediction, unit) +
                  note_on(pairs, pairs.truth.size() > kMostPoints)) +
         card(name + ": errors",
              error_histogram(pairs.error, unit) +
                  "<p class=\"note\">The outermost columns hold what lies further out.</p>\n");
}

std::string class_plots(const Pairs& pairs, const std::string& name, const std::string&) {
  Series curve{"this model", {}, {}};
  for (const RocPoint& point : roc_curve(pairs.truth, pairs.prediction)) {
    curve.x.push_back(point.false_positives);
    curve.y.push_back(point.true_positives);
  }
  if (curve.x.empty()) return "";
  return card(name + ": ROC curve", line_plot({curve, {"chance", {0, 1}, {0, 1}}},
                                              "false positive rate", "true positive rate") +
                                        note_on(pairs, false));
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
  const auto plots = &metric_set_of(scores) == &binary_metrics() ? class_plots : error_plots;
  return plots(pairs, scores.value("target", column), scores.value("unit", ""));
}

}  // namespace

std::string test_plots(const RunRecord& run, const std::filesystem::path& folder) {
  const std::string file = RunFiles{folder}.predictions().string();
  std::string cards;
  if (run.predictions) {
    for (std::size_t t = 0; t < run.predictions->targets.size(); ++t) cards += target_plots(run, t);
  }
  if (cards.empty()) return "";
  return section("Test set",
                 grid(cards) + fmt::format("<p class=\"note\">Molecule by molecule: <a href=\"{}\">"
                                           "predictions_test.csv</a></p>\n",
                                           escape_html(file)));
}

}  // namespace moiety::apps

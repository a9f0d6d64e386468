// SPDX-License-Identifier: Apache-2.0
#include "apps/metrics.h"

#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

/// Known values of a column of the truth and what was predicted for them.
struct Column {
  std::vector<double> truth;
  std::vector<double> prediction;
};

Column known_values(const Predictions& predictions, std::size_t target) {
  Column column;
  const std::size_t targets = predictions.targets.size();
  for (std::size_t i = target; i < predictions.truth.size(); i += targets) {
    if (std::isnan(predictions.truth[i])) continue;
    column.truth.push_back(predictions.truth[i]);
    column.prediction.push_back(predictions.prediction[i]);
  }
  return column;
}

Scores score(const Column& column) {
  const auto count = static_cast<double>(column.truth.size());
  double mean = 0;
  for (const double y : column.truth) mean += y / count;
  double absolute = 0, squared = 0, spread = 0;
  for (std::size_t i = 0; i < column.truth.size(); ++i) {
    const double error = column.prediction[i] - column.truth[i];
    absolute += std::abs(error);
    squared += error * error;
    spread += (column.truth[i] - mean) * (column.truth[i] - mean);
  }
  // 0 / 0, NaN, says that nothing is known.
  return {.mae = absolute / count,
          .rmse = std::sqrt(squared / count),
          .r2 = spread > 0 ? 1 - squared / spread : std::numeric_limits<double>::quiet_NaN(),
          .molecules = std::ssize(column.truth)};
}

double mean_of(const std::vector<TargetScores>& targets, double Scores::*field) {
  double sum = 0;
  for (const TargetScores& target : targets) sum += target.scores.*field;
  return sum / static_cast<double>(targets.size());
}

/// JSON has no NaN.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json to_json(const TargetScores& target) {
  return {{"target", target.name},
          {"mae", number(target.scores.mae)},
          {"rmse", number(target.scores.rmse)},
          {"r2", number(target.scores.r2)},
          {"unit", target.unit},
          {"molecules", target.scores.molecules}};
}

}  // namespace

double SplitScores::mae() const { return mean_of(targets, &Scores::mae); }
double SplitScores::rmse() const { return mean_of(targets, &Scores::rmse); }
double SplitScores::r2() const { return mean_of(targets, &Scores::r2); }

std::string SplitScores::unit() const {
  for (const TargetScores& target : targets) {
    if (target.unit != targets.front().unit) return "";
  }
  return targets.empty() ? "" : targets.front().unit;
}

SplitScores score(const Predictions& predictions, const std::vector<std::string>& units) {
  MOIETY_CHECK(units.size() == predictions.targets.size());
  SplitScores split;
  for (std::size_t t = 0; t < units.size(); ++t) {
    split.targets.push_back(
        {predictions.targets[t], units[t], score(known_values(predictions, t))});
  }
  return split;
}

SplitScores score_mean_predictor(const Predictions& predictions, const std::vector<double>& means,
                                 const std::vector<std::string>& units) {
  MOIETY_CHECK(means.size() == predictions.targets.size());
  Predictions constant = predictions;
  for (std::size_t i = 0; i < constant.prediction.size(); ++i) {
    constant.prediction[i] = means[i % means.size()];
  }
  return score(constant, units);
}

json to_json(const SplitScores& split) {
  if (split.targets.size() == 1) return to_json(split.targets.front());
  json object = {{"mae", number(split.mae())},
                 {"rmse", number(split.rmse())},
                 {"r2", number(split.r2())},
                 {"unit", split.unit()}};
  for (const TargetScores& target : split.targets) object["targets"][target.name] = to_json(target);
  return object;
}

json to_json(const MetricsLine& line) {
  json object = {{"step", line.step},
                 {"epoch", line.epoch},
                 {"seconds", line.seconds},
                 {"lr", line.lr},
                 {"train", {{"loss", number(line.train_loss)}}}};
  if (line.grad_norm) object["train"]["grad_norm"] = number(*line.grad_norm);
  if (line.skipped > 0) object["train"]["skipped"] = line.skipped;
  if (line.valid) {
    object["valid"] = {{"mae", number(line.valid->mae())},
                       {"rmse", number(line.valid->rmse())},
                       {"r2", number(line.valid->r2())}};
  }
  if (line.valid_loss) object["valid"]["loss"] = number(*line.valid_loss);
  return object;
}

}  // namespace moiety::apps

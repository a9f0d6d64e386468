// SPDX-License-Identifier: Apache-2.0
#include "apps/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

using nlohmann::json;

/// MAE, RMSE and R2: 1 - SSE / SST, NaN when the truth does not vary.
std::vector<double> errors_of(const KnownValues& column) {
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
  return {absolute / count, std::sqrt(squared / count),
          spread > 0 ? 1 - squared / spread : std::numeric_limits<double>::quiet_NaN()};
}

/// JSON has no NaN.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json to_json(const TargetScores& target, const MetricSet& set) {
  json out = {{std::string(set.counted), target.count}};
  if (!target.name.empty()) out.update({{"target", target.name}, {"unit", target.unit}});
  for (std::size_t i = 0; i < set.metrics.size(); ++i) {
    out[std::string(set.metrics[i].key)] = number(target.values[i]);
  }
  return out;
}

}  // namespace

KnownValues known_values(const Predictions& predictions, std::size_t target) {
  KnownValues known;
  const std::size_t targets = predictions.targets.size();
  for (std::size_t i = target; i < predictions.truth.size(); i += targets) {
    if (std::isnan(predictions.truth[i])) continue;
    known.truth.push_back(predictions.truth[i]);
    known.prediction.push_back(predictions.prediction[i]);
  }
  return known;
}

double SplitScores::value(std::string_view key) const {
  const auto metric = std::ranges::find(set->metrics, key, &Metric::key);
  check(metric != set->metrics.end(), "there is no metric ", key);
  const auto at = static_cast<std::size_t>(metric - set->metrics.begin());
  double sum = 0;
  double defined = 0;
  for (const TargetScores& target : targets) {
    if (std::isnan(target.values[at])) continue;
    sum += target.values[at];
    defined += 1;
  }
  return sum / defined;
}

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
    const KnownValues known = known_values(predictions, t);
    split.targets.push_back(
        {predictions.targets[t], units[t], errors_of(known), std::ssize(known.truth)});
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
  if (split.targets.size() == 1) return to_json(split.targets.front(), *split.set);
  json object = {{"unit", split.unit()}};
  for (const Metric& metric : split.set->metrics) {
    object[std::string(metric.key)] = number(split.value(metric.key));
  }
  for (const TargetScores& target : split.targets) {
    object["targets"][target.name] = to_json(target, *split.set);
  }
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
  if (line.loss_scale > 0) object["train"]["loss_scale"] = line.loss_scale;
  if (line.valid) {
    for (const Metric& metric : line.valid->set->metrics) {
      object["valid"][std::string(metric.key)] = number(line.valid->value(metric.key));
    }
  }
  if (line.valid_loss) object["valid"]["loss"] = number(*line.valid_loss);
  return object;
}

}  // namespace moiety::apps

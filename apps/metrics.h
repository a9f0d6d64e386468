// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/metric_set.h"
#include "apps/predictions.h"

namespace moiety::apps {

/// Scores of one target of one split, over what is known of it; of a language model there is one
/// without a name.
struct TargetScores {
  std::string name;
  std::string unit;            ///< "" when unknown
  std::vector<double> values;  ///< one a metric of the set; NaN where it is not defined
  std::int64_t count = 0;      ///< molecules or tokens
};

/// Scores of a split; several targets count equally in the means.
struct SplitScores {
  const MetricSet* set = &regression_metrics();
  std::vector<TargetScores> targets;

  /// The mean of a metric over the targets for which it is defined; NaN where it is for none.
  /// Throws Error for a metric that the set does not have.
  double value(std::string_view key) const;
  /// The unit when all targets share it, else "".
  std::string unit() const;
};

/// Known values of a target and what was predicted for them.
struct KnownValues {
  std::vector<double> truth;
  std::vector<double> prediction;
};
KnownValues known_values(const Predictions& predictions, std::size_t target);

/// Errors of each target t, from column t of truth and prediction; `units` [T].
SplitScores score(const Predictions& predictions, const std::vector<std::string>& units);

/// Errors of the model that always says `means` [T], the means of the training set.
SplitScores score_mean_predictor(const Predictions& predictions, const std::vector<double>& means,
                                 const std::vector<std::string>& units);

/// {"target", "mae", "rmse", "r2", "unit", "molecules"} of the one target, or what else its set
/// has; of several, the means and "targets": {name: the same}. NaN becomes null.
nlohmann::json to_json(const SplitScores& scores);

/// What is known at one point of the training: a line of metrics.jsonl. Losses are in standardised
/// units, errors in the target's own.
struct MetricsLine {
  std::int64_t step = 0;
  double epoch = 0;
  double seconds = 0;
  double lr = 0;
  double train_loss = 0;
  std::optional<double> grad_norm;
  double loss_scale = 0;     ///< of f16; 0: the loss is not scaled
  std::int64_t skipped = 0;  ///< steps since the last line whose gradient was not finite
  std::optional<double> valid_loss;
  std::optional<SplitScores> valid;
};

/// {"step", "epoch", "seconds", "lr", "train": {"loss", "skipped", "loss_scale"}, "valid": {"loss",
/// "mae", "rmse", "r2" or what else there is}}.
nlohmann::json to_json(const MetricsLine& line);

}  // namespace moiety::apps

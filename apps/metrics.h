// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/predictions.h"

namespace moiety::apps {

/// Errors over the molecules whose value is known, in the target's own unit.
struct Scores {
  double mae = 0;
  double rmse = 0;
  double r2 = 0;  ///< 1 - SSE / SST; NaN when the truth does not vary
  std::int64_t molecules = 0;
};

/// Scores of one target of one split.
struct TargetScores {
  std::string name;
  std::string unit;  ///< "" when unknown
  Scores scores;
};

/// Scores of a split; several targets count equally in the means.
struct SplitScores {
  std::vector<TargetScores> targets;

  double mae() const;
  double rmse() const;
  double r2() const;
  /// The unit when all targets share it, else "".
  std::string unit() const;
};

/// Scores of each target t, from column t of truth and prediction; `units` [T].
SplitScores score(const Predictions& predictions, const std::vector<std::string>& units);

/// Scores of the model that always says `means` [T], the means of the training set.
SplitScores score_mean_predictor(const Predictions& predictions, const std::vector<double>& means,
                                 const std::vector<std::string>& units);

/// {"target", "mae", "rmse", "r2", "unit", "molecules"} of the one target; of several, the means
/// and "targets": {name: the same}. NaN becomes null.
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
  std::int64_t skipped = 0;  ///< steps since the last line whose gradient was not finite
  std::optional<double> valid_loss;
  std::optional<SplitScores> valid;
};

/// {"step", "epoch", "seconds", "lr", "train": {"loss", "skipped"}, "valid": {"loss", "mae",
/// "rmse", "r2"}}.
nlohmann::json to_json(const MetricsLine& line);

}  // namespace moiety::apps

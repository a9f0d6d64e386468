// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/targets.h"

namespace moiety::apps {

/// Measurements, standardised for training; judged by their errors.
class RegressionTargets final : public Targets {
 public:
  using Targets::Targets;

  void check_loss(const TrainRecipe& recipe) const override;
  Variable loss(const Variable& output, const Tensor& wanted, const TrainRecipe& recipe,
                double scale) const override;
  double mean_loss(const Predictions& predictions, const TrainRecipe& recipe) const override;
  std::vector<double> restore(const Tensor& output) const override;
  SplitScores score(const Predictions& predictions,
                    const std::vector<std::string>& units) const override;
  double rank(const Validation& validation) const override;
  std::string chosen_by(const SplitScores&) const override { return "validation MAE"; }
  std::map<std::string, SplitScores> baselines(const data::Dataset& dataset, const ModelSpec& spec,
                                               const Predictions& test) const override;
};

}  // namespace moiety::apps

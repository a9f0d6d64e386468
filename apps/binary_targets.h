// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/targets.h"

namespace moiety::apps {

/// Classes, 1 or 0, of which a model says the logits; judged by how well it tells them apart.
class BinaryTargets final : public Targets {
 public:
  using Targets::Targets;

  void check_loss(const TrainRecipe& recipe) const override;
  Variable loss(const Variable& output, const Tensor& wanted, const TrainRecipe& recipe,
                double scale) const override;
  double mean_loss(const Predictions& predictions, const TrainRecipe& recipe) const override;
  /// Probabilities of class 1.
  std::vector<double> restore(const Tensor& output) const override;
  SplitScores score(const Predictions& predictions,
                    const std::vector<std::string>& units) const override;
  /// By the mean ROC-AUC of the targets that have both classes; where none has, by the loss.
  double rank(const Validation& validation) const override;
  std::string chosen_by(const SplitScores& valid) const override;
  std::map<std::string, SplitScores> baselines(const data::Dataset& dataset, const ModelSpec& spec,
                                               const Predictions& test) const override;
};

}  // namespace moiety::apps

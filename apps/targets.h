// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/model_spec.h"
#include "apps/predictions.h"
#include "apps/recipe.h"
#include "apps/task.h"
#include "autograd/variable.h"
#include "nn/target_scaler.h"

namespace moiety::apps {

/// What the numbers mean that a model learns of molecules, whatever it sees of those: measurements,
/// or classes.
class Targets {
 public:
  /// For targets whose standardised values a model says.
  explicit Targets(nn::TargetScaler scaler) : scaler_(std::move(scaler)) {}
  virtual ~Targets() = default;

  /// What the loss compares the columns [T] of y [M, K] with: [M, T], NaN = missing.
  Tensor wanted(const Tensor& y, std::span<const std::size_t> columns) const {
    return scaler_.standardize(y, columns);
  }
  const nn::TargetScaler& scaler() const { return scaler_; }

  /// Throws UserError where the recipe asks for a loss of other targets.
  virtual void check_loss(const TrainRecipe& recipe) const = 0;
  /// Sum over the targets that are not missing, times `scale`: [].
  virtual Variable loss(const Variable& output, const Tensor& wanted, const TrainRecipe& recipe,
                        double scale) const = 0;
  /// The mean of the same over predictions.
  virtual double mean_loss(const Predictions& predictions, const TrainRecipe& recipe) const = 0;
  /// What a model's output [M, T] f32 says of the targets, row by row.
  virtual std::vector<double> restore(const Tensor& output) const = 0;
  virtual SplitScores score(const Predictions& predictions,
                            const std::vector<std::string>& units) const = 0;
  /// The smaller, the better.
  virtual double rank(const Validation& validation) const = 0;
  /// What that looks at, for people: "validation MAE".
  virtual std::string chosen_by(const SplitScores& valid) const = 0;
  /// Scores of simpler models on the test split, by name; `test` has the truth.
  virtual std::map<std::string, SplitScores> baselines(const data::Dataset& dataset,
                                                       const ModelSpec& spec,
                                                       const Predictions& test) const = 0;

 private:
  nn::TargetScaler scaler_;
};

/// Those of a model.
std::unique_ptr<Targets> make_targets(const ModelSpec& spec);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/regression_targets.h"

#include <cmath>

#include "apps/baseline.h"
#include "autograd/ops/loss.h"

namespace moiety::apps {
namespace {

kernels::Loss loss_of(const TrainRecipe& recipe) {
  if (recipe.loss == "mse") return kernels::Loss::mse;
  if (recipe.loss == "huber") return kernels::Loss::huber;
  return kernels::Loss::mae;
}

/// As in ops::regression_loss, for one prediction.
double point_loss(const TrainRecipe& recipe, double error) {
  const double size = std::fabs(error);
  const double delta = recipe.huber_delta;
  if (recipe.loss == "mse") return error * error;
  if (recipe.loss != "huber") return size;
  return size <= delta ? size * size / 2 : delta * (size - delta / 2);
}

}  // namespace

void RegressionTargets::check_loss(const TrainRecipe& recipe) const {
  check<UserError>(recipe.loss != "bce" && recipe.loss != "cross_entropy", "train.loss = \"",
                   recipe.loss,
                   "\" is of classes or tokens, and the targets are measurements; use mae, mse, "
                   "huber or auto");
}

Variable RegressionTargets::loss(const Variable& output, const Tensor& wanted,
                                 const TrainRecipe& recipe, double scale) const {
  return ops::regression_loss(output, wanted, loss_of(recipe), scale, recipe.huber_delta);
}

double RegressionTargets::mean_loss(const Predictions& predictions,
                                    const TrainRecipe& recipe) const {
  const std::size_t width = predictions.targets.size();
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < predictions.truth.size(); ++i) {
    if (std::isnan(predictions.truth[i])) continue;
    const double error =
        (predictions.prediction[i] - predictions.truth[i]) / scaler().sd()[i % width];
    sum += point_loss(recipe, error);
    count += 1;
  }
  return count > 0 ? sum / count : std::nan("");
}

std::vector<double> RegressionTargets::restore(const Tensor& output) const {
  return scaler().restore(output);
}

SplitScores RegressionTargets::score(const Predictions& predictions,
                                     const std::vector<std::string>& units) const {
  return apps::score(predictions, units);
}

double RegressionTargets::rank(const Validation& validation) const {
  // Targets of different units count alike once they are measured in standard deviations.
  double sum = 0;
  for (std::size_t t = 0; t < validation.scores.targets.size(); ++t) {
    sum += validation.scores.targets[t].values.front() / scaler().sd()[t];
  }
  return sum;
}

std::map<std::string, SplitScores> RegressionTargets::baselines(const data::Dataset& dataset,
                                                                const ModelSpec& spec,
                                                                const Predictions& test) const {
  const auto columns = target_columns(spec, dataset.info());
  std::vector<double> means;
  for (const std::size_t column : columns) means.push_back(dataset.info().target_mean[column]);
  std::map<std::string, SplitScores> out;
  out["mean predictor"] = score_mean_predictor(test, means, spec.units);
  if (dataset.info().has_graphs) {
    out["ridge on feature counts"] =
        score(ridge_on_counts(dataset, spec.targets, columns), spec.units);
  }
  return out;
}

}  // namespace moiety::apps

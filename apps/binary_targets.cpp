// SPDX-License-Identifier: Apache-2.0
#include "apps/binary_targets.h"

#include <cmath>

#include "apps/classification_metrics.h"
#include "autograd/ops/loss.h"

namespace moiety::apps {

void BinaryTargets::check_loss(const TrainRecipe& recipe) const {
  check<UserError>(recipe.loss == "auto" || recipe.loss == "bce", "train.loss = \"", recipe.loss,
                   "\" is not of classes, and the targets are 0 or 1; use bce or auto");
}

Variable BinaryTargets::loss(const Variable& output, const Tensor& wanted, const TrainRecipe&,
                             double scale) const {
  return ops::regression_loss(output, wanted, kernels::Loss::bce, scale);
}

double BinaryTargets::mean_loss(const Predictions& predictions, const TrainRecipe&) const {
  KnownValues known;
  for (std::size_t t = 0; t < predictions.targets.size(); ++t) {
    const KnownValues own = known_values(predictions, t);
    known.truth.insert(known.truth.end(), own.truth.begin(), own.truth.end());
    known.prediction.insert(known.prediction.end(), own.prediction.begin(), own.prediction.end());
  }
  return log_loss(known.truth, known.prediction);
}

std::vector<double> BinaryTargets::restore(const Tensor& output) const {
  std::vector<double> out;
  for (const float logit : output.to_vector<float>()) {
    out.push_back(1 / (1 + std::exp(-static_cast<double>(logit))));
  }
  return out;
}

SplitScores BinaryTargets::score(const Predictions& predictions,
                                 const std::vector<std::string>& units) const {
  SplitScores out{&binary_metrics(), {}};
  for (std::size_t t = 0; t < predictions.targets.size(); ++t) {
    const auto [truth, probability] = known_values(predictions, t);
    out.targets.push_back({predictions.targets[t],
                           units[t],
                           {roc_auc(truth, probability), average_precision(truth, probability),
                            accuracy(truth, probability), log_loss(truth, probability)},
                           std::ssize(truth)});
  }
  return out;
}

double BinaryTargets::rank(const Validation& validation) const {
  const double area = validation.scores.value("roc_auc");
  return std::isnan(area) ? validation.loss : 1 - area;
}

std::string BinaryTargets::chosen_by(const SplitScores& valid) const {
  return std::isnan(valid.value("roc_auc"))
             ? "validation loss (ROC-AUC is not defined: there is one class alone)"
             : "validation ROC-AUC";
}

std::map<std::string, SplitScores> BinaryTargets::baselines(const data::Dataset& dataset,
                                                            const ModelSpec& spec,
                                                            const Predictions& test) const {
  const auto columns = target_columns(spec, dataset.info());
  Predictions constant = test;
  for (std::size_t i = 0; i < constant.prediction.size(); ++i) {
    constant.prediction[i] = dataset.info().target_mean[columns[i % columns.size()]];
  }
  return {{"class frequencies", score(constant, spec.units)}};
}

}  // namespace moiety::apps

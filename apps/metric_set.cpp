// SPDX-License-Identifier: Apache-2.0
#include "apps/metric_set.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace moiety::apps {
namespace {

constexpr std::array<Metric, 3> kRegression = {
    {{.key = "mae", .title = "MAE", .has_unit = true, .curve = "Validation error"},
     {.key = "rmse", .title = "RMSE", .has_unit = true, .curve = "Validation error"},
     {.key = "r2", .title = "R2", .higher_is_better = true}}};

constexpr std::array<Metric, 4> kBinary = {
    {{.key = "roc_auc", .title = "ROC-AUC", .higher_is_better = true, .curve = "Validation scores"},
     {.key = "average_precision",
      .title = "avg precision",
      .higher_is_better = true,
      .curve = "Validation scores"},
     {.key = "accuracy",
      .title = "accuracy",
      .higher_is_better = true,
      .curve = "Validation scores"},
     {.key = "log_loss", .title = "log loss"}}};

constexpr std::array<Metric, 3> kLanguage = {
    {{.key = "loss", .title = "loss"},
     {.key = "perplexity", .title = "perplexity", .curve = "Validation perplexity"},
     {.key = "accuracy",
      .title = "accuracy",
      .higher_is_better = true,
      .curve = "Validation accuracy"}}};

constexpr MetricSet kRegressionSet{"molecules", kRegression};
constexpr MetricSet kBinarySet{"molecules", kBinary};
constexpr MetricSet kLanguageSet{"tokens", kLanguage};

}  // namespace

const MetricSet& regression_metrics() { return kRegressionSet; }
const MetricSet& binary_metrics() { return kBinarySet; }
const MetricSet& language_metrics() { return kLanguageSet; }

const MetricSet& metric_set_of(const nlohmann::json& scores) {
  const auto has = [&](const Metric& metric) { return scores.contains(std::string(metric.key)); };
  for (const MetricSet* set : {&kBinarySet, &kLanguageSet}) {
    if (std::ranges::all_of(set->metrics, has)) return *set;
  }
  return kRegressionSet;
}

}  // namespace moiety::apps

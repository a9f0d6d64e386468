// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace moiety::apps {

/// One figure by which models are judged.
struct Metric {
  std::string_view key;    ///< in JSON: "mae"
  std::string_view title;  ///< for people: "MAE"
  bool higher_is_better = false;
  bool has_unit = false;        ///< it is in the target's own unit
  std::string_view curve = "";  ///< title of the plot that shows it over a training; "": none
};

/// How models of one kind are judged.
struct MetricSet {
  std::string_view counted;         ///< what the scores are of: "molecules"
  std::span<const Metric> metrics;  ///< the one that says most is the first

  const Metric& main() const { return metrics.front(); }
};

/// Errors of measurements.
const MetricSet& regression_metrics();
/// How well yes and no are told apart.
const MetricSet& binary_metrics();
/// How well tokens are foretold.
const MetricSet& language_metrics();

/// The set that scores of a target or of a language model in JSON are of; that of regression where
/// they are of none.
const MetricSet& metric_set_of(const nlohmann::json& scores);

}  // namespace moiety::apps

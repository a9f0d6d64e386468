// SPDX-License-Identifier: Apache-2.0
#include "apps/classification_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastProbability = std::numeric_limits<double>::epsilon();  // scikit-learn's

/// The molecules of one score.
struct Step {
  double score = 0;
  std::int64_t ones = 0;
  std::int64_t zeros = 0;
};

/// Molecules whose class is known by score, the highest first, and how many there are.
struct Ranking {
  std::vector<Step> steps;
  std::int64_t ones = 0;
  std::int64_t zeros = 0;

  bool has_both() const { return ones > 0 && zeros > 0; }
};

/// Calls f(is a 1, score) for each molecule whose class is known.
template <class F>
void for_each_known(std::span<const double> truth, std::span<const double> scores, const F& f) {
  MOIETY_CHECK(truth.size() == scores.size(), truth.size(), " and ", scores.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!std::isnan(truth[i])) f(truth[i] > 0.5, scores[i]);
  }
}

/// Nothing where a score is no number: no order of them would mean anything.
Ranking rank(std::span<const double> truth, std::span<const double> scores) {
  std::vector<std::pair<double, bool>> known;
  bool ordered = true;
  for_each_known(truth, scores, [&](bool one, double score) {
    known.emplace_back(score, one);
    ordered = ordered && !std::isnan(score);
  });
  Ranking out;
  if (!ordered) return out;
  std::ranges::sort(known, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [score, one] : known) {
    if (out.steps.empty() || out.steps.back().score != score) out.steps.push_back({score, 0, 0});
    ++(one ? out.steps.back().ones : out.steps.back().zeros);
    ++(one ? out.ones : out.zeros);
  }
  return out;
}

/// The mean of f(is a 1, probability) over the molecules whose class is known.
template <class F>
double mean_of_known(std::span<const double> truth, std::span<const double> probabilities,
                     const F& f) {
  double sum = 0;
  std::int64_t count = 0;
  for_each_known(truth, probabilities, [&](bool one, double probability) {
    sum += f(one, probability);
    ++count;
  });
  return count > 0 ? sum / static_cast<double>(count) : kNone;
}

}  // namespace

double roc_auc(std::span<const double> truth, std::span<const double> scores) {
  const Ranking ranking = rank(truth, scores);
  if (!ranking.has_both()) return kNone;
  double below = 0;  // pairs in which the 1 scores higher, a tie as half a pair
  std::int64_t ones = 0;
  for (const Step& step : ranking.steps) {
    below += static_cast<double>(step.zeros) *
             (static_cast<double>(ones) + static_cast<double>(step.ones) / 2);
    ones += step.ones;
  }
  return below / (static_cast<double>(ranking.ones) * static_cast<double>(ranking.zeros));
}

double average_precision(std::span<const double> truth, std::span<const double> scores) {
  const Ranking ranking = rank(truth, scores);
  if (ranking.ones == 0) return kNone;
  double sum = 0;
  std::int64_t ones = 0;
  std::int64_t taken = 0;
  for (const Step& step : ranking.steps) {
    ones += step.ones;
    taken += step.ones + step.zeros;
    const double precision = static_cast<double>(ones) / static_cast<double>(taken);
    sum += precision * static_cast<double>(step.ones);
  }
  return sum / static_cast<double>(ranking.ones);
}

double accuracy(std::span<const double> truth, std::span<const double> probabilities) {
  return mean_of_known(truth, probabilities, [](bool one, double probability) {
    return std::isnan(probability) ? kNone : static_cast<double>((probability > 0.5) == one);
  });
}

double log_loss(std::span<const double> truth, std::span<const double> probabilities) {
  return mean_of_known(truth, probabilities, [](bool one, double probability) {
    const double given = one ? probability : 1 - probability;
    return std::isnan(given) ? kNone : -std::log(std::clamp(given, kLeastProbability, 1.0));
  });
}

ClassScores score_classes(std::span<const double> truth, std::span<const double> probabilities) {
  ClassScores out{.roc_auc = roc_auc(truth, probabilities),
                  .average_precision = average_precision(truth, probabilities),
                  .accuracy = accuracy(truth, probabilities),
                  .log_loss = log_loss(truth, probabilities)};
  for_each_known(truth, probabilities, [&](bool one, double) {
    ++out.molecules;
    out.positives += one;
  });
  return out;
}

std::vector<RocPoint> roc_curve(std::span<const double> truth, std::span<const double> scores) {
  const Ranking ranking = rank(truth, scores);
  if (!ranking.has_both()) return {};
  struct Corner {
    std::int64_t zeros, ones;
    double threshold;
  };
  std::vector<Corner> corners = {{0, 0, std::numeric_limits<double>::infinity()}};
  for (const Step& step : ranking.steps) {
    const Corner next = {corners.back().zeros + step.zeros, corners.back().ones + step.ones,
                         step.score};
    const auto on_the_way = [&] {
      const Corner& last = corners.back();
      const Corner& first = corners[corners.size() - 2];
      return (last.zeros - first.zeros) * (next.ones - last.ones) ==
             (next.zeros - last.zeros) * (last.ones - first.ones);
    };
    if (corners.size() > 1 && on_the_way()) corners.pop_back();
    corners.push_back(next);
  }
  std::vector<RocPoint> out;
  for (const Corner& corner : corners) {
    out.push_back({static_cast<double>(corner.zeros) / static_cast<double>(ranking.zeros),
                   static_cast<double>(corner.ones) / static_cast<double>(ranking.ones),
                   corner.threshold});
  }
  return out;
}

}  // namespace moiety::apps

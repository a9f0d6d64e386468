// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace moiety::apps {

// Of one target that is 0 or 1: truth [N], where NaN does not count, and scores [N], the larger the
// more likely a 1. Each returns NaN where it is not defined.

/// The chance that a 1 scores higher than a 0, ties counting half: the area under the ROC curve.
/// Not defined where only one class is known.
double roc_auc(std::span<const double> truth, std::span<const double> scores);

/// The sum over thresholds of precision times the gain in recall, equal scores being one threshold,
/// as scikit-learn's average_precision_score. Not defined without a 1.
double average_precision(std::span<const double> truth, std::span<const double> scores);

/// The share of molecules whose probability is on their class's side of 1/2; 1/2 itself is a 0.
double accuracy(std::span<const double> truth, std::span<const double> probabilities);

/// The mean of -log of the probability that the truth was given; a probability counts as at least
/// 2^-52.
double log_loss(std::span<const double> truth, std::span<const double> probabilities);

/// All of them for one target.
struct ClassScores {
  double roc_auc = 0;
  double average_precision = 0;
  double accuracy = 0;
  double log_loss = 0;
  std::int64_t molecules = 0;  ///< whose class is known
  std::int64_t positives = 0;  ///< of them of class 1
};
ClassScores score_classes(std::span<const double> truth, std::span<const double> probabilities);

/// A point of the ROC curve: the shares of zeros and of ones that score at least `threshold`.
struct RocPoint {
  double false_positives = 0;
  double true_positives = 0;
  double threshold = 0;
};

/// From (0, 0), whose threshold is infinite, to (1, 1); empty where only one class is known. Points
/// between two on one straight line are left out.
std::vector<RocPoint> roc_curve(std::span<const double> truth, std::span<const double> scores);

}  // namespace moiety::apps

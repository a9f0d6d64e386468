// SPDX-License-Identifier: Apache-2.0
#include "apps/classification_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/golden.h"

namespace moiety::apps {
namespace {

using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ClassificationMetrics, EqualScikitLearn) {
  const auto cases = moiety::testing::read_golden("classification.json");
  ASSERT_EQ(cases.size(), 9u);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const Values truth = golden["truth"];
    const Values probabilities = golden["probabilities"];
    const ClassScores scores = score_classes(truth, probabilities);
    EXPECT_NEAR(scores.roc_auc, golden["roc_auc"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.average_precision, golden["average_precision"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.accuracy, golden["accuracy"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.log_loss, golden["log_loss"].get<double>(), 1e-12);
    EXPECT_EQ(scores.molecules, std::ssize(truth));
    EXPECT_EQ(scores.positives, std::ranges::count(truth, 1.0));
  }
}

/// The curve's height above x, by straight lines between its points.
double height(const Values& x, const Values& y, double at) {
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (x[i] < at || x[i] == x[i - 1]) continue;
    return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
  }
  return 1;
}

TEST(ClassificationMetrics, TheCurveIsScikitLearnsAndHasItsArea) {
  for (const auto& golden : moiety::testing::read_golden("classification.json")) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto curve =
        roc_curve(golden["truth"].get<Values>(), golden["probabilities"].get<Values>());
    Values x, y;
    double area = 0;
    for (const RocPoint& point : curve) {
      if (!x.empty()) {
        area += (point.false_positives - x.back()) * (point.true_positives + y.back()) / 2;
        EXPECT_LT(point.threshold, curve.front().threshold);
      }
      x.push_back(point.false_positives);
      y.push_back(point.true_positives);
    }
    EXPECT_NEAR(area, golden["roc_auc"].get<double>(), 1e-12);
    EXPECT_EQ(x.front(), 0);
    EXPECT_EQ(y.front(), 0);
    EXPECT_EQ(x.back(), 1);
    EXPECT_EQ(y.back(), 1);
    for (const double at : {0.015, 0.21, 0.5, 0.83}) {
      EXPECT_NEAR(height(x, y, at), height(golden["roc"][0], golden["roc"][1], at), 1e-12);
    }
  }
}

TEST(ClassificationMetrics, MissingClassesDoNotCount) {
  const Values truth = {1, kNan, 0, kNan, 1};
  const Values scores = {0.9, 0.1, 0.4, 0.8, 0.3};
  const ClassScores known = score_classes(Values{1, 0, 1}, Values{0.9, 0.4, 0.3});
  const ClassScores all = score_classes(truth, scores);
  EXPECT_EQ(all.roc_auc, 0.5);
  EXPECT_EQ(all.average_precision, known.average_precision);
  EXPECT_EQ(all.accuracy, known.accuracy);
  EXPECT_EQ(all.log_loss, known.log_loss);
  EXPECT_EQ(all.molecules, 3);
  EXPECT_EQ(all.positives, 2);
}

TEST(ClassificationMetrics, WhatIsNotDefinedIsNoNumber) {
  const ClassScores ones = score_classes(Values{1, 1}, Values{0.3, 0.8});
  EXPECT_TRUE(std::isnan(ones.roc_auc));
  EXPECT_EQ(ones.average_precision, 1);
  EXPECT_EQ(ones.accuracy, 0.5);
  const ClassScores zeros = score_classes(Values{0, 0}, Values{0.3, 0.8});
  EXPECT_TRUE(std::isnan(zeros.roc_auc));
  EXPECT_TRUE(std::isnan(zeros.average_precision));
  const ClassScores none = score_classes(Values{kNan}, Values{0.3});
  EXPECT_TRUE(std::isnan(none.accuracy));
  EXPECT_TRUE(std::isnan(none.log_loss));
  EXPECT_TRUE(roc_curve(Values{1, 1}, Values{0.3, 0.8}).empty());
  const ClassScores broken = score_classes(Values{1, 0}, Values{kNan, 0.2});
  EXPECT_TRUE(std::isnan(broken.roc_auc));
  EXPECT_TRUE(std::isnan(broken.average_precision));
  EXPECT_TRUE(std::isnan(broken.accuracy));
  EXPECT_TRUE(std::isnan(broken.log_loss));
}

}  // namespace
}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "nn/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "support/error_text.h"
#include "tensor/rng.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;
using Scores = std::vector<float>;
/// Tokens and the share of [0, 1) that each is drawn from.
using Shares = std::map<std::int32_t, double>;

constexpr int kSteps = 4000;

/// Draws for numbers that fill [0, 1) evenly.
Shares shares_of(const Scores& scores, const SamplingRule& rule) {
  TokenSampler sampler(rule);
  Shares out;
  for (int i = 0; i < kSteps; ++i) out[sampler.draw(scores, (i + 0.5) / kSteps)] += 1.0 / kSteps;
  return out;
}

void expect_shares(const Scores& scores, const SamplingRule& rule, const Shares& expected) {
  const Shares got = shares_of(scores, rule);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [token, share] : expected) {
    ASSERT_TRUE(got.contains(token)) << token;
    EXPECT_NEAR(got.at(token), share, 1.01 / kSteps) << token;
  }
}

Scores logs(const std::vector<double>& probabilities) {
  Scores out;
  for (const double p : probabilities) out.push_back(static_cast<float>(std::log(p) + 3));
  return out;
}

const Scores kFive = logs({0.1, 0.4, 0.05, 0.25, 0.2});

TEST(TokenSampler, EachTokenHasItsProbability) {
  expect_shares(kFive, {}, {{0, 0.1}, {1, 0.4}, {2, 0.05}, {3, 0.25}, {4, 0.2}});
}

TEST(TokenSampler, TemperatureIsAPowerOfTheProbability) {
  const double total = 0.01 + 0.16 + 0.0025 + 0.0625 + 0.04;
  expect_shares(kFive, {.temperature = 0.5},
                {{0, 0.01 / total},
                 {1, 0.16 / total},
                 {2, 0.0025 / total},
                 {3, 0.0625 / total},
                 {4, 0.04 / total}});
  expect_shares(kFive, {.temperature = 0}, {{1, 1}});
  expect_shares(kFive, {.temperature = 1e-9}, {{1, 1}});
}

TEST(TokenSampler, TopKTakesTheFirstOfTheRanking) {
  expect_shares(kFive, {.top_k = 1}, {{1, 1}});
  expect_shares(kFive, {.top_k = 3}, {{1, 0.4 / 0.85}, {3, 0.25 / 0.85}, {4, 0.2 / 0.85}});
  expect_shares(kFive, {.top_k = 99}, {{0, 0.1}, {1, 0.4}, {2, 0.05}, {3, 0.25}, {4, 0.2}});
  expect_shares({1, 2, 2, 2, 0}, {.top_k = 2}, {{1, 0.5}, {2, 0.5}});  // equals by number
}

TEST(TokenSampler, TopPTakesTheFewestThatHaveIt) {
  expect_shares(kFive, {.top_p = 0.3}, {{1, 1}});
  expect_shares(kFive, {.top_p = 0.41}, {{1, 0.4 / 0.65}, {3, 0.25 / 0.65}});
  expect_shares(kFive, {.top_p = 0.86},
                {{1, 0.4 / 0.95}, {3, 0.25 / 0.95}, {4, 0.2 / 0.95}, {0, 0.1 / 0.95}});
  expect_shares({2, 2, 2, 2}, {.top_p = 0.5}, {{0, 0.5}, {1, 0.5}});
  // Of the first three, the probabilities are 0.471, 0.294 and 0.235.
  expect_shares(kFive, {.top_k = 3, .top_p = 0.7}, {{1, 0.4 / 0.65}, {3, 0.25 / 0.65}});
}

TEST(TokenSampler, OfAFairGeneratorTheDrawsAreFair) {
  TokenSampler sampler({});
  std::vector<double> counts(5);
  constexpr int kDraws = 20000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    ++counts[static_cast<std::size_t>(sampler.draw(kFive, double{random_uniform({3, 4}, i)}))];
  }
  double chi_squared = 0;
  const std::vector<double> expected = {0.1, 0.4, 0.05, 0.25, 0.2};
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const double mean = kDraws * expected[t];
    chi_squared += (counts[t] - mean) * (counts[t] - mean) / mean;
  }
  EXPECT_LT(chi_squared, 14.9);  // 0.5 % of fair ones are above
}

TEST(TokenSampler, WhatIsImpossibleIsNeverDrawn) {
  const Scores scores = {-1e30F, 0, -1e30F};
  TokenSampler sampler({});
  for (const double uniform : {0.0, 0.5, std::nextafter(1.0, 0.0)}) {
    EXPECT_EQ(sampler.draw(scores, uniform), 1) << uniform;
  }
}

TEST(TokenSampler, MistakesAreNamed) {
  const auto refusal = [](const SamplingRule& rule) {
    return error_text<UserError>([&] { check_rule(rule); });
  };
  EXPECT_TRUE(says(refusal({.temperature = -1}), {"temperature", "-1"}));
  EXPECT_TRUE(says(refusal({.temperature = std::nan("")}), {"temperature"}));
  EXPECT_TRUE(says(refusal({.top_k = -2}), {"top-k", "-2"}));
  EXPECT_TRUE(says(refusal({.top_p = 0}), {"top-p", "0"}));
  EXPECT_TRUE(says(refusal({.top_p = 1.5}), {"top-p", "1.5"}));
  TokenSampler sampler({.temperature = 0});
  EXPECT_TRUE(says(error_text([&] { sampler.draw(Scores{1, std::nanf("")}, 0); }), {"not finite"}));
  EXPECT_TRUE(says(error_text([&] {
                     sampler.draw(Scores{1, std::numeric_limits<float>::infinity()}, 0);
                   }),
                   {"not finite"}));
}

}  // namespace
}  // namespace moiety::nn

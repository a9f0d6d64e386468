// SPDX-License-Identifier: Apache-2.0
#include "data/masking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

using Ids = std::vector<std::int32_t>;

TokenVocabulary vocabulary_of(std::int32_t ordinary) {
  TokenVocabulary vocabulary;
  vocabulary.set_role(TokenRole::pad, *vocabulary.add("[PAD]"));
  for (std::int32_t i = 0; i < ordinary / 2; ++i) vocabulary.add("low" + std::to_string(i));
  for (const auto& [role, name] : {std::pair(TokenRole::mask, "[MASK]"),
                                   {TokenRole::begin, "[CLS]"},
                                   {TokenRole::end, "[SEP]"},
                                   {TokenRole::unknown, "[UNK]"}}) {
    vocabulary.set_role(role, *vocabulary.add(name));
  }
  for (std::int32_t i = ordinary / 2; i < ordinary; ++i) vocabulary.add("t" + std::to_string(i));
  return vocabulary;
}

class MaskingTest : public ::testing::Test {
 protected:
  static constexpr std::int32_t kOrdinary = 8;
  TokenVocabulary vocabulary_ = vocabulary_of(kOrdinary);
  std::int32_t mask_ = *vocabulary_.id(TokenRole::mask);
  std::int32_t begin_ = *vocabulary_.id(TokenRole::begin);
  std::int32_t end_ = *vocabulary_.id(TokenRole::end);
};

/// That `count` of `total` is what chance would give in all but one of 10,000 cases (4 sd).
void expect_share(double count, double total, double share, const char* what) {
  EXPECT_NEAR(count / total, share, 4 * std::sqrt(share * (1 - share) / total)) << what;
}

TEST_F(MaskingTest, HidesTheShares) {
  const Masking masking(vocabulary_);
  Ids original = {begin_};
  for (std::int32_t i = 0; i < 60'000; ++i) original.push_back(1 + i % 4);
  original.push_back(end_);
  Ids tokens = original;
  Ids labels;
  masking.apply(tokens, {7, 1}, labels);
  ASSERT_EQ(labels.size(), tokens.size());
  double guessed = 0, masked = 0, same = 0, other = 0;
  std::map<std::int32_t, int> drawn;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (labels[t] < 0) {
      EXPECT_EQ(tokens[t], original[t]) << "what is not guessed stays";
      continue;
    }
    ++guessed;
    EXPECT_EQ(labels[t], original[t]);
    masked += tokens[t] == mask_;
    same += tokens[t] == original[t];
    other += tokens[t] != mask_ && tokens[t] != original[t];
    if (tokens[t] != mask_ && tokens[t] != original[t]) ++drawn[tokens[t]];
  }
  EXPECT_EQ(labels.front(), -1) << "the begin token is never guessed";
  EXPECT_EQ(labels.back(), -1) << "nor the end token";
  expect_share(guessed, 60'000, 0.15, "guessed");
  expect_share(masked, guessed, 0.8, "masked");
  // A random token is the old one in one of eight draws.
  expect_share(other, guessed, 0.1 * 7 / 8, "another");
  expect_share(same, guessed, 0.1 + 0.1 / 8, "kept");
  EXPECT_EQ(drawn.size(), static_cast<std::size_t>(kOrdinary)) << "any ordinary token, no special";
  for (const auto& [id, count] : drawn) {
    EXPECT_GT(count, 40) << id;
    for (const TokenRole role : kTokenRoles) EXPECT_NE(vocabulary_.id(role), id);
  }
}

TEST_F(MaskingTest, DependsOnTheKeyAlone) {
  const Masking masking(vocabulary_);
  const auto run = [&](RngKey key) {
    Ids tokens(50, 2);
    Ids labels;
    masking.apply(tokens, key, labels);
    return std::pair(tokens, labels);
  };
  EXPECT_EQ(run({1, 2}), run({1, 2}));
  EXPECT_NE(run({1, 2}), run({1, 3}));
  EXPECT_NE(run({1, 2}), run({2, 2}));
}

TEST_F(MaskingTest, AlwaysAsksForOne) {
  const Masking masking(vocabulary_, {.probability = 1e-9});
  std::map<std::size_t, int> places;
  for (std::uint64_t row = 0; row < 300; ++row) {
    Ids tokens = {begin_, 1, 2, 3, end_};
    Ids labels = {-1, -1};  // of a sequence before it
    masking.apply(tokens, {row, 0}, labels);
    ASSERT_EQ(labels.size(), 7u);
    int asked = 0;
    for (std::size_t t = 2; t < labels.size(); ++t) {
      if (labels[t] < 0) continue;
      ++asked;
      ++places[t - 2];
    }
    EXPECT_EQ(asked, 1);
  }
  EXPECT_EQ(places.size(), 3u) << "each of the three ordinary ones";
  for (const auto& [place, count] : places) EXPECT_GT(count, 60) << place;
  Ids special = {begin_, end_};
  Ids labels;
  masking.apply(special, {1, 0}, labels);
  EXPECT_EQ(labels, (Ids{-1, -1})) << "nothing to guess";
  EXPECT_EQ(special, (Ids{begin_, end_}));
}

TEST_F(MaskingTest, AllOfThem) {
  const Masking masking(vocabulary_, {.probability = 1, .masked_share = 1, .random_share = 0});
  Ids tokens = {begin_, 1, 2, end_};
  Ids labels;
  masking.apply(tokens, {1, 0}, labels);
  EXPECT_EQ(tokens, (Ids{begin_, mask_, mask_, end_}));
  EXPECT_EQ(labels, (Ids{-1, 1, 2, -1}));
}

TEST_F(MaskingTest, ImpossibleOnesAreRefused) {
  const auto refusal = [](const TokenVocabulary& vocabulary, const MaskingOptions& options) {
    return error_text<UserError>([&] { const Masking masking(vocabulary, options); });
  };
  for (const MaskingOptions& bad :
       {MaskingOptions{.probability = 0}, MaskingOptions{.probability = 1.5},
        MaskingOptions{.probability = std::nan("")}, MaskingOptions{.masked_share = -0.1},
        MaskingOptions{.masked_share = 0.95, .random_share = 0.1}}) {
    EXPECT_TRUE(says(refusal(vocabulary_, bad), {"masking", "not possible"}));
  }
  TokenVocabulary words;
  words.add("C");
  EXPECT_TRUE(says(refusal(words, {}), {"no mask token"}));
  TokenVocabulary masks;
  masks.set_role(TokenRole::mask, *masks.add("[MASK]"));
  EXPECT_TRUE(says(refusal(masks, {}), {"nothing to guess"}));
}

}  // namespace
}  // namespace moiety::data

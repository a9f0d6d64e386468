// SPDX-License-Identifier: Apache-2.0
#include "tensor/token_batch.h"

#include <gtest/gtest.h>

#include "support/error_text.h"

namespace moiety {
namespace {

using Numbers = std::vector<std::int32_t>;
using testing::error_text;
using testing::says;

Numbers numbers_of(const Tensor& t) { return t.to_vector<std::int32_t>(); }

class TokenBatches : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  TokenBatch batch_ = pack_tokens({{5, 6}, {7}, {8, 9, 10}}, *device_);
};

TEST_F(TokenBatches, HoldSequencesWithoutPadding) {
  EXPECT_EQ(numbers_of(batch_.tokens), (Numbers{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(numbers_of(batch_.positions), (Numbers{0, 1, 0, 0, 1, 2}));
  EXPECT_EQ(numbers_of(batch_.ptr), (Numbers{0, 2, 3, 6}));
  EXPECT_EQ(batch_.longest, 3);
  EXPECT_EQ(batch_.sequences(), 3);
  EXPECT_EQ(pack_tokens({}, *device_).sequences(), 0);
}

TEST_F(TokenBatches, ScoreTheTokensThatHaveALabel) {
  score_labelled(batch_, Numbers{-1, 3, -100, 4, -1, 0});
  EXPECT_EQ(numbers_of(batch_.scored.index), (Numbers{1, 3, 5}));
  EXPECT_EQ(numbers_of(batch_.scored.ptr), (Numbers{0, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(numbers_of(batch_.scored.order), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers_of(batch_.scored_ptr), (Numbers{0, 1, 1, 3}));
  EXPECT_EQ(numbers_of(batch_.scored_positions), (Numbers{1, 0, 2}));
  EXPECT_EQ(numbers_of(batch_.labels), (Numbers{3, 4, 0}));
}

TEST_F(TokenBatches, ScoreTheFirstTokens) {
  score_starts(batch_);
  EXPECT_EQ(numbers_of(batch_.scored.index), (Numbers{0, 2, 3}));
  EXPECT_EQ(numbers_of(batch_.scored_ptr), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(batch_.scored_positions), (Numbers{0, 0, 0}));
}

TEST_F(TokenBatches, AreCutBySequences) {
  score_labelled(batch_, Numbers{-1, 3, -100, 4, -1, 0});
  batch_.y = Tensor::from(std::vector<float>{1, 2, 3}, {3, 1}, *device_);
  const TokenBatch part = part_of(batch_, 1, 3);
  EXPECT_EQ(numbers_of(part.tokens), (Numbers{7, 8, 9, 10}));
  EXPECT_EQ(numbers_of(part.positions), (Numbers{0, 0, 1, 2}));
  EXPECT_EQ(numbers_of(part.ptr), (Numbers{0, 1, 4}));
  EXPECT_EQ(numbers_of(part.scored.index), (Numbers{1, 3}));
  EXPECT_EQ(numbers_of(part.scored_ptr), (Numbers{0, 0, 2}));
  EXPECT_EQ(numbers_of(part.scored_positions), (Numbers{0, 2}));
  EXPECT_EQ(part.first_scored, 1);
  EXPECT_EQ(numbers_of(part.labels), (Numbers{4, 0}));
  EXPECT_EQ(part.y.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(part.longest, 3);
  EXPECT_EQ(part.first_token, 2);
  EXPECT_EQ(part.first_sequence, 1);
  const TokenBatch again = part_of(part, 1, 2);
  EXPECT_EQ(numbers_of(again.tokens), (Numbers{8, 9, 10}));
  EXPECT_EQ(numbers_of(again.labels), (Numbers{4, 0}));
  EXPECT_EQ(again.first_token, 3);
  EXPECT_EQ(part_of(batch_, 1, 2).scored.rows(), 0);
  EXPECT_EQ(part_of(batch_, 1, 2).longest, 1);
  EXPECT_EQ(part_of(batch_, 2, 2).token_count(), 0);
}

TEST_F(TokenBatches, LabelsOfAllTokensAreCutWithThem) {
  batch_.labels = Tensor::from(Numbers{1, 2, 3, 4, 5, 6}, {6}, *device_);
  EXPECT_EQ(numbers_of(part_of(batch_, 1, 3).labels), (Numbers{3, 4, 5, 6}));
}

TEST_F(TokenBatches, AreCutIntoEvenParts) {
  std::vector<Numbers> sequences;
  for (const int length : {9, 1, 6, 4, 20, 3, 7}) sequences.emplace_back(length, 1);
  const TokenBatch batch = pack_tokens(sequences, *device_);  // 50 tokens
  const auto sizes = [&](std::int64_t tokens_per_part) {
    std::vector<std::int64_t> out;
    std::int64_t first = 0;
    for (const TokenBatch& part : cut_by_tokens(batch, tokens_per_part)) {
      EXPECT_EQ(part.first_token, first);
      out.push_back(part.token_count());
      first += out.back();
    }
    return out;
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(1000), (Sizes{50}));
  EXPECT_EQ(sizes(25), (Sizes{20, 30}));
  EXPECT_EQ(sizes(10), (Sizes{9, 7, 4, 20, 10}));
  EXPECT_EQ(sizes(1), (Sizes{9, 1, 6, 4, 20, 3, 7}));
  EXPECT_EQ(cut_by_tokens(pack_tokens({}, *device_), 8).size(), 1u);
}

TEST_F(TokenBatches, RefuseWhatDoesNotFit) {
  EXPECT_TRUE(says(error_text<ShapeError>([&] {
                     pack_tokens({{1}, {}}, *device_);
                   }),
                   {"sequence 1 is empty"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { score_labelled(batch_, Numbers{1}); }),
                   {"1 labels for 6 tokens"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { part_of(batch_, 2, 4); }), {"2 to 4 of 3"}));
  EXPECT_TRUE(says(error_text<Error>([&] { cut_by_tokens(batch_, 0); }), {"parts of 0 tokens"}));
  for (const Numbers& rows : {Numbers{0, 6}, Numbers{-1}, Numbers{2, 2}}) {
    EXPECT_TRUE(says(error_text<ShapeError>([&] { make_row_choice(rows, 6, *device_); }),
                     {"rows must ascend"}));
  }
}

}  // namespace
}  // namespace moiety

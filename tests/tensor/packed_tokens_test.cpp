// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/error_text.h"
#include "tensor/packed_batch.h"

namespace moiety {
namespace {

using Numbers = std::vector<std::int32_t>;
using testing::error_text;
using testing::says;

Numbers numbers_of(const Tensor& t) { return t.to_vector<std::int32_t>(); }

class PackedTokens : public ::testing::Test {
 protected:
  /// Six tokens, three of which are scored.
  TokenBatch small_batch() const {
    TokenBatch batch = pack_tokens({{5, 6}, {7}, {8, 9, 10}}, *device_);
    score_labelled(batch, Numbers{-1, 3, -100, 4, -1, 1});
    batch.y = Tensor::from(std::vector<float>{1, 2, 3}, {3, 1}, *device_);
    return batch;
  }
  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(PackedTokens, KeepTheBatchAndPadItWithSequencesOfTheirOwn) {
  const PackedBatch packed = pack(small_batch(), {13, 6, 8, 3}, 100, *device_);
  const TokenBatch& tokens = packed.tokens;
  EXPECT_TRUE(packed.holds_tokens());
  EXPECT_EQ(numbers_of(tokens.tokens), (Numbers{5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers_of(tokens.positions), (Numbers{0, 1, 0, 0, 1, 2, 0, 1, 0, 1, 0, 1, 2}));
  EXPECT_EQ(numbers_of(tokens.ptr), (Numbers{0, 2, 3, 6, 8, 10, 13}));
  EXPECT_EQ(numbers_of(packed.rows), (Numbers{6}));
  EXPECT_EQ(packed.extra.numel(), 100);
  EXPECT_EQ(tokens.longest, 3);
  EXPECT_EQ(numbers_of(tokens.labels), (Numbers{3, 4, 1, -1, -1, -1, -1, -1}));
  // The choice is what one made from its rows would be.
  const Numbers index = numbers_of(tokens.scored.index);
  EXPECT_EQ(index, (Numbers{1, 3, 5, 7, 8, 10, 11, 12}));
  const RowChoice made = make_row_choice(index, 13, *device_);
  EXPECT_EQ(numbers_of(tokens.scored.ptr), numbers_of(made.ptr));
  EXPECT_EQ(numbers_of(tokens.scored.order), numbers_of(made.order));
  EXPECT_EQ(numbers_of(tokens.scored_ptr), (Numbers{0, 1, 1, 3, 4, 5, 8}));
  EXPECT_EQ(numbers_of(tokens.scored_positions), (Numbers{1, 0, 2, 1, 0, 0, 1, 2}));
  const auto y = tokens.y.to_vector<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 3), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(std::all_of(y.begin() + 3, y.end(), [](float v) { return std::isnan(v); }));
}

TEST_F(PackedTokens, MoreScoredRowsThanTokensReadThemAgain) {
  const PackedBatch packed = pack(small_batch(), {8, 4, 9, 3}, 0, *device_);
  EXPECT_EQ(numbers_of(packed.tokens.scored.index), (Numbers{1, 3, 5, 6, 6, 6, 7, 7, 7}));
  EXPECT_EQ(numbers_of(packed.tokens.scored.ptr), (Numbers{0, 0, 1, 1, 2, 2, 3, 6, 9}));
  EXPECT_EQ(numbers_of(packed.tokens.scored_ptr), (Numbers{0, 1, 1, 3, 9}));
  EXPECT_EQ(numbers_of(packed.tokens.scored_positions), (Numbers{1, 0, 2, 0, 0, 0, 1, 1, 1}));
}

TEST_F(PackedTokens, FitTheSizesThatAreMadeForThem) {
  for (const std::int64_t longest : {1, 2, 7, 300}) {
    for (const std::int64_t count : {1, 5, 63, 64, 70, 1000}) {
      std::vector<Numbers> sequences;
      for (std::int64_t i = 0; i < count; ++i) {
        sequences.emplace_back(static_cast<std::size_t>(1 + i * 13 % longest), 1);
      }
      TokenBatch batch = pack_tokens(sequences, *device_);
      const TokenBatchSize all = padded_size(batch, longest);
      EXPECT_EQ(all.scored, all.tokens);
      score_starts(batch);
      const TokenBatchSize size = padded_size(batch, longest);
      EXPECT_EQ(size.scored, size.sequences);
      EXPECT_GT(size.tokens, batch.token_count());
      EXPECT_LE(size.tokens, std::max<std::int64_t>(128, 2 * batch.token_count()));
      EXPECT_LE(size.longest, longest);
      const TokenBatch packed = pack(batch, size, 8, *device_).tokens;
      const Numbers ptr = numbers_of(packed.ptr);
      for (std::size_t b = 0; b + 1 < ptr.size(); ++b) {
        EXPECT_GT(ptr[b + 1], ptr[b]);
        EXPECT_LE(ptr[b + 1] - ptr[b], longest);
      }
      const Numbers rows = numbers_of(packed.scored.index);
      EXPECT_TRUE(std::ranges::is_sorted(rows));
      EXPECT_TRUE(rows.empty() || (rows.front() >= 0 && rows.back() < packed.token_count()));
    }
  }
  const TokenBatch long_one = pack_tokens({Numbers(90, 1)}, *device_);
  EXPECT_EQ(padded_size(long_one, 512).longest, 128);
  EXPECT_EQ(padded_size(long_one, 100).longest, 100);
  EXPECT_EQ(padded_size(long_one, 80).longest, 90) << "which the model refuses";
}

TEST_F(PackedTokens, OneCopyMovesThem) {
  const PackedBatch packed = pack(small_batch(), {64, 32, 8, 4}, 64, *device_);
  const PackedBatch twin = same_layout(packed, *device_);
  ASSERT_EQ(twin.memory.numel(), packed.memory.numel());
  ASSERT_NE(twin.memory.raw_data(), packed.memory.raw_data());
  twin.memory.copy_from(packed.memory);
  EXPECT_EQ(numbers_of(twin.tokens.tokens), numbers_of(packed.tokens.tokens));
  EXPECT_EQ(numbers_of(twin.tokens.scored.order), numbers_of(packed.tokens.scored.order));
  EXPECT_EQ(numbers_of(twin.tokens.labels), numbers_of(packed.tokens.labels));
  EXPECT_EQ(twin.tokens.longest, 4);
  EXPECT_EQ(twin.extents, packed.extents);
}

TEST_F(PackedTokens, RefuseASizeWithoutRoom) {
  for (const TokenBatchSize& size :
       {TokenBatchSize{5, 3, 8, 3}, TokenBatchSize{13, 2, 8, 3}, TokenBatchSize{13, 6, 2, 3},
        TokenBatchSize{13, 4, 8, 3}, TokenBatchSize{8, 6, 8, 3}, TokenBatchSize{13, 6, 8, 2},
        TokenBatchSize{6, 3, 4, 3}}) {
    EXPECT_TRUE(says(error_text<ShapeError>([&] { pack(small_batch(), size, 0, *device_); }),
                     {"6 tokens in 3 sequences of up to 3 with 3 scored rows"}));
  }
  EXPECT_EQ(pack(small_batch(), {6, 3, 3, 3}, 0, *device_).tokens.token_count(), 6);
}

}  // namespace
}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "data/token_collate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "data/featurize.h"
#include "data/tokenizer_record.h"
#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

using Ids = std::vector<std::int32_t>;
using Objective = SequenceBatching::Objective;

Ids values(const Tensor& tensor) { return tensor.to_vector<std::int32_t>(); }

class TokenCollate : public ::testing::Test {
 protected:
  TokenCollate() {
    write_token_dataset(folder_ / "a.h5", some_smiles(), true);
    dataset_.emplace(folder_ / "a.h5");
    tokenizer_ = load_tokenizer_of(*dataset_);
  }
  SequenceBatching batching(Objective objective) const {
    return {.objective = objective, .tokenizer = tokenizer_, .seed = 5};
  }
  TokenBatch whole(const std::vector<std::int64_t>& rows, const SequenceBatching& how,
                   std::int64_t epoch = 0) {
    auto parts = collate_tokens(*dataset_, rows, how, epoch, 0, *device_);
    EXPECT_EQ(parts.size(), 1u);
    return parts[0];
  }
  /// The ids of sequence b.
  static Ids sequence(const TokenBatch& batch, std::int64_t b) {
    const Ids tokens = values(batch.tokens);
    const Ids ptr = values(batch.ptr);
    return {tokens.begin() + ptr[static_cast<std::size_t>(b)],
            tokens.begin() + ptr[static_cast<std::size_t>(b) + 1]};
  }
  Ids stored(std::int64_t row) const {
    const auto ids = dataset_->tokens(row);
    return {ids.begin(), ids.end()};
  }

  TemporaryFolder folder_;
  std::optional<Dataset> dataset_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(TokenCollate, SequencesInTheirOrder) {
  const std::vector<std::int64_t> rows = {7, 2, 15};
  const TokenBatch batch = whole(rows, batching(Objective::none));
  ASSERT_EQ(batch.sequences(), 3);
  for (std::int64_t b = 0; b < 3; ++b) {
    EXPECT_EQ(sequence(batch, b), stored(rows[static_cast<std::size_t>(b)]));
  }
  EXPECT_FALSE(batch.scored.defined());
  EXPECT_EQ(batch.y.shape(), (Shape{3, 2}));
  EXPECT_EQ(batch.y.to_vector<float>(), (std::vector<float>{3.5, 1, 1, 0, 7.5, 1}));
}

TEST_F(TokenCollate, CausalLabelsAreTheNextTokens) {
  const TokenBatch batch = whole({3, 8}, batching(Objective::causal));
  Ids rows, labels;
  for (const std::int64_t row : {3, 8}) {
    const Ids ids = stored(row);
    const auto first = static_cast<std::int32_t>(rows.size()) + (row == 8 ? 1 : 0);
    for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
      rows.push_back(first + static_cast<std::int32_t>(t));
      labels.push_back(ids[t + 1]);
    }
  }
  EXPECT_EQ(values(batch.scored.index), rows);
  EXPECT_EQ(values(batch.labels), labels);
}

TEST_F(TokenCollate, StartsAreTheFirstTokens) {
  const TokenBatch batch = whole({3, 8, 4}, batching(Objective::starts));
  Ids ptr = values(batch.ptr);
  ptr.pop_back();
  EXPECT_EQ(values(batch.scored.index), ptr);
  EXPECT_FALSE(batch.labels.defined());
}

TEST_F(TokenCollate, MasksDependOnSeedEpochAndRow) {
  const auto how = batching(Objective::masked);
  const auto masked = [&](const std::vector<std::int64_t>& rows, std::int64_t epoch) {
    return sequence(whole(rows, how, epoch), std::ssize(rows) - 1);
  };
  const Ids row = masked({0}, 4);
  EXPECT_NE(row, stored(0));
  EXPECT_EQ(masked({5, 9, 0}, 4), row) << "wherever it stands in a batch";
  EXPECT_NE(masked({0}, 5), row);
  auto other = how;
  other.seed = 6;
  EXPECT_NE(sequence(whole({0}, other, 4), 0), row);
  const TokenBatch batch = whole({0, 2, 13}, how);
  const Ids index = values(batch.scored.index);
  const Ids labels = values(batch.labels);
  Ids original;
  for (const std::int64_t m : {0, 2, 13}) {
    for (const std::int32_t id : stored(m)) original.push_back(id);
  }
  ASSERT_EQ(index.size(), labels.size());
  for (std::size_t s = 0; s < index.size(); ++s) {
    EXPECT_EQ(labels[s], original[static_cast<std::size_t>(index[s])]);
  }
}

TEST_F(TokenCollate, PartsAreTheBatch) {
  std::vector<std::int64_t> rows(30);
  std::iota(rows.begin(), rows.end(), 0);
  auto how = batching(Objective::masked);
  const TokenBatch batch = whole(rows, how);
  const auto parts = collate_tokens(*dataset_, rows, how, 0, 60, *device_);
  ASSERT_GT(parts.size(), 4u);
  Ids tokens, index, labels;
  std::vector<float> y;
  std::int64_t sequences = 0;
  for (const TokenBatch& part : parts) {
    EXPECT_EQ(part.first_token, std::ssize(tokens));
    EXPECT_EQ(part.first_sequence, sequences);
    EXPECT_LE(part.token_count(), 60 + batch.longest);
    for (const std::int32_t i : values(part.scored.index)) {
      index.push_back(i + static_cast<std::int32_t>(tokens.size()));
    }
    for (const std::int32_t id : values(part.tokens)) tokens.push_back(id);
    for (const std::int32_t label : values(part.labels)) labels.push_back(label);
    for (const float value : part.y.to_vector<float>()) y.push_back(value);
    sequences += part.sequences();
  }
  EXPECT_EQ(tokens, values(batch.tokens));
  EXPECT_EQ(index, values(batch.scored.index));
  EXPECT_EQ(labels, values(batch.labels));
  EXPECT_EQ(y, batch.y.to_vector<float>());
}

TEST_F(TokenCollate, RandomSmilesAreTheSameMolecules) {
  auto how = batching(Objective::none);
  how.random_smiles = true;
  std::vector<std::int64_t> rows(30);
  std::iota(rows.begin(), rows.end(), 0);
  std::set<std::string> aspirin;
  int changed = 0;
  for (std::int64_t epoch = 0; epoch < 6; ++epoch) {
    const TokenBatch batch = whole(rows, how, epoch);
    for (const std::int64_t row : rows) {
      const std::string text = tokenizer_->decode(sequence(batch, row));
      const std::string own = some_smiles()[static_cast<std::size_t>(row)];
      EXPECT_EQ(Molecule(text).canonical_smiles(), Molecule(own).canonical_smiles()) << text;
      changed += text != own;
    }
    aspirin.insert(tokenizer_->decode(sequence(batch, 0)));
    EXPECT_EQ(sequence(whole({12, 0}, how, epoch), 1), sequence(batch, 0));
  }
  EXPECT_GT(changed, 60);
  EXPECT_GT(aspirin.size(), 3u) << "another one in each epoch";
}

TEST_F(TokenCollate, WhatCannotBeWrittenAtRandomKeepsItsForm) {
  // The words of these texts alone: a random form would want branches or other rings.
  write_token_dataset(folder_ / "b.h5", {"OCCN", "C1CC1", "NCC"});
  const Dataset dataset(folder_ / "b.h5");
  SequenceBatching how{.tokenizer = load_tokenizer_of(dataset), .random_smiles = true};
  const std::vector<std::int64_t> rows = {0, 1, 2};
  for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
    const auto batch = collate_tokens(dataset, rows, how, epoch, 0, *device_)[0];
    for (const std::int64_t row : rows) {
      for (const std::int32_t id : sequence(batch, row)) {
        EXPECT_NE(id, how.tokenizer->vocabulary().id(TokenRole::unknown));
      }
    }
  }
  how.max_length = 6;  // CCO and N in any order, no branch
  for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
    const auto batch = collate_tokens(dataset, rows, how, epoch, 0, *device_)[0];
    EXPECT_LE(batch.longest, 6);
    EXPECT_EQ(how.tokenizer->decode(sequence(batch, 0)).size(), 4u);
  }
}

TEST_F(TokenCollate, LongOnesAreCutBeforeTheEnd) {
  auto how = batching(Objective::causal);
  how.max_length = 5;
  const TokenBatch batch = whole({0, 4}, how);
  Ids cut = stored(0);
  cut.resize(4);
  cut.push_back(*tokenizer_->vocabulary().id(TokenRole::end));
  EXPECT_EQ(sequence(batch, 0), cut);
  EXPECT_EQ(sequence(batch, 1), stored(4));
  EXPECT_EQ(batch.longest, 5);
}

TEST_F(TokenCollate, RowsThatFit) {
  const std::vector<std::int64_t> rows = {4, 0, 3, 1};
  const auto fit = [&](TooLong how) { return rows_that_fit(*dataset_, rows, 6, how); };
  EXPECT_EQ(fit(TooLong::skip), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(fit(TooLong::truncate), rows);
  EXPECT_TRUE(says(error_text<UserError>([&] { fit(TooLong::error); }),
                   {"a.h5: molecule 0 has", std::to_string(dataset_->tokens(0).size()), "takes 6",
                    "model.max_length", "data.too_long", "truncate", "skip"}));
}

TEST_F(TokenCollate, SequencesOfNoDataSet) {
  const auto how = batching(Objective::masked);
  const auto parts = collate_tokens({stored(5), stored(0)}, 5, how, 0, 0, *device_);
  EXPECT_EQ(sequence(parts[0], 0), sequence(whole({5}, how), 0)) << "masked as row 5";
  EXPECT_FALSE(parts[0].y.defined());
  EXPECT_THROW(collate_tokens({stored(5), {}}, 0, how, 0, 0, *device_), ShapeError);
  EXPECT_THROW(collate_tokens({{}}, 0, batching(Objective::causal), 0, 0, *device_), ShapeError);
}

TEST_F(TokenCollate, MissingPartsAreNamed) {
  SequenceBatching how{.objective = Objective::masked};
  const auto refusal = [&] { return error_text<UserError>([&] { whole({0}, how); }); };
  EXPECT_TRUE(says(refusal(), {"masking", "tokenizer"}));
  how.objective = Objective::none;
  how.random_smiles = true;
  EXPECT_TRUE(says(refusal(), {"random SMILES", "tokenizer"}));
  EXPECT_THROW(whole({30}, batching(Objective::none)), ShapeError);
}

}  // namespace
}  // namespace moiety::data

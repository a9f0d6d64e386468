// SPDX-License-Identifier: Apache-2.0
#include "data/loader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "data/collate.h"
#include "data/tokenizer_record.h"
#include "support/dataset_files.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() {
    write_dataset(path_, random_molecules(230, 1));
    dataset_.emplace(path_);
    std::vector<std::int64_t> all(230);
    std::iota(all.begin(), all.end(), 0);
    sampler_.emplace(*dataset_, all, SamplerOptions{.batch_size = 16, .shuffle = true, .seed = 3});
  }
  Loader loader(const LoaderOptions& options, Cursor start = {}) {
    return {*dataset_, *sampler_, *device_, options, start};
  }
  static std::vector<std::int64_t> rows_of(const LoadedBatch& batch) {
    std::vector<std::int64_t> out;
    for (const GraphBatch& part : batch.parts) {
      const auto rows = part.index.to_vector<std::int64_t>();
      out.insert(out.end(), rows.begin(), rows.end());
    }
    return out;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
  std::optional<Dataset> dataset_;
  std::optional<Sampler> sampler_;
  std::unique_ptr<Device> device_ = make_cpu_device(2);
};

TEST_F(LoaderTest, EqualsDirectCollate) {
  Loader batches = loader({.nodes_per_part = 30, .end_epoch = 3});
  std::int64_t seen = 0;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const EpochPlan plan = sampler_->plan(epoch);
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      const auto batch = batches.next();
      ASSERT_TRUE(batch.has_value());
      EXPECT_EQ(batch->cursor, (Cursor{epoch, step}));
      EXPECT_EQ(batch->last_of_epoch, step + 1 == plan.steps());
      EXPECT_EQ(batch->molecules, std::ssize(plan.batch(step)));
      EXPECT_EQ(batch->global_molecules, batch->molecules);
      const auto expected = collate_parts(*dataset_, plan.batch(step), 30, *device_);
      ASSERT_EQ(batch->parts.size(), expected.size());
      for (std::size_t p = 0; p < expected.size(); ++p) {
        EXPECT_EQ(batch->parts[p].x.to_vector<std::int32_t>(),
                  expected[p].x.to_vector<std::int32_t>());
        EXPECT_EQ(batch->parts[p].adj.out_edge.to_vector<std::int32_t>(),
                  expected[p].adj.out_edge.to_vector<std::int32_t>());
        EXPECT_EQ(batch->parts[p].first_node, expected[p].first_node);
      }
      ++seen;
    }
  }
  EXPECT_EQ(seen, 45);
  EXPECT_FALSE(batches.next().has_value());
  EXPECT_FALSE(batches.next().has_value());
}

TEST_F(LoaderTest, ResumesAnywhere) {
  std::vector<LoadedBatch> whole;
  Loader from_start = loader({.end_epoch = 2});
  while (auto batch = from_start.next()) whole.push_back(std::move(*batch));
  ASSERT_EQ(whole.size(), 30u);
  for (const std::size_t k : {0u, 1u, 13u, 14u, 15u, 28u, 29u}) {
    Loader resumed = loader({.end_epoch = 2}, whole[k].next);
    for (std::size_t i = k + 1; i < whole.size(); ++i) {
      const auto batch = resumed.next();
      ASSERT_TRUE(batch.has_value());
      EXPECT_EQ(batch->cursor, whole[i].cursor);
      EXPECT_EQ(rows_of(*batch), rows_of(whole[i]));
    }
    EXPECT_FALSE(resumed.next().has_value());
  }
  EXPECT_EQ(loader({.end_epoch = 2}, {0, 15}).next()->cursor, (Cursor{1, 0}));
}

TEST_F(LoaderTest, ReaderErrorReachesTheConsumer) {
  Loader past_the_end = loader({}, {0, 16});
  EXPECT_THROW(past_the_end.next(), UserError);
  EXPECT_THROW(past_the_end.next(), UserError);

  dataset_.emplace(path_, /*most_in_memory=*/0);
  std::filesystem::resize_file(path_, 4096);
  Loader of_a_changed_file = loader({.end_epoch = 1000, .prefetch = 2});
  EXPECT_THROW(of_a_changed_file.next(), IoError);
  EXPECT_THROW(loader({.prefetch = 0}), UserError);
  EXPECT_THROW(loader({}, {-1, 0}), UserError);
}

TEST_F(LoaderTest, StopsAtAnyMoment) {
  Dice dice(4);
  for (int trial = 0; trial < 100; ++trial) {
    Loader batches = loader({.end_epoch = 1000, .prefetch = 1 + trial % 3});
    for (std::int64_t i = dice.below(4); i > 0; --i) batches.next();
    std::this_thread::sleep_for(std::chrono::microseconds(dice.below(300)));
  }
}

TEST_F(LoaderTest, BatchesOutliveIt) {
  std::optional<LoadedBatch> batch;
  {
    Loader batches = loader({});
    batch = batches.next();
  }
  EXPECT_EQ(rows_of(*batch).size(), 16u);
}

TEST_F(LoaderTest, MemoryDoesNotGrow) {
  Loader batches = loader({.nodes_per_part = 40, .end_epoch = 400});
  const auto drain = [&](int steps) {
    for (int i = 0; i < steps; ++i) batches.next();
  };
  drain(1000);
  const auto reserved = device_->allocator().stats().bytes_reserved;
  drain(4900);
  EXPECT_EQ(device_->allocator().stats().bytes_reserved, reserved);
}

TEST_F(LoaderTest, RankWithoutMoleculesGetsNoParts) {
  const std::vector<std::int64_t> rows = {0, 5, 7};
  const Sampler evaluation(*dataset_, rows, {.batch_size = 8, .rank = 0, .world_size = 4});
  Loader batches(*dataset_, evaluation, *device_, {});
  const auto batch = batches.next();
  ASSERT_TRUE(batch.has_value());
  EXPECT_TRUE(batch->parts.empty());
  EXPECT_EQ(batch->molecules, 0);
  EXPECT_EQ(batch->global_molecules, 3);
}

/// Batches of sequences of the whole data set, masked and at random.
class SequenceLoaderTest : public ::testing::Test {
 protected:
  SequenceLoaderTest() {
    write_token_dataset(path_, some_smiles());
    dataset_.emplace(path_);
    std::vector<std::int64_t> all(30);
    std::iota(all.begin(), all.end(), 0);
    sampler_.emplace(*dataset_, all,
                     SamplerOptions{.token_budget = 120, .shuffle = true, .seed = 3});
    options_.end_epoch = 3;
    options_.sequences = SequenceBatching{.objective = SequenceBatching::Objective::masked,
                                          .tokenizer = load_tokenizer_of(*dataset_),
                                          .seed = 9,
                                          .random_smiles = true};
    options_.tokens_per_part = 50;
  }
  /// Tokens and labels of a batch.
  static std::vector<std::int32_t> content(const LoadedBatch& batch) {
    std::vector<std::int32_t> out;
    for (const TokenBatch& part : batch.sequences) {
      for (const Tensor& tensor : {part.tokens, part.ptr, part.labels}) {
        const auto values = tensor.to_vector<std::int32_t>();
        out.insert(out.end(), values.begin(), values.end());
      }
    }
    return out;
  }
  std::vector<std::vector<std::int32_t>> run(Device& device, Cursor start = {}) {
    Loader loader(*dataset_, *sampler_, device, options_, start);
    std::vector<std::vector<std::int32_t>> out;
    while (const auto batch = loader.next()) {
      EXPECT_TRUE(batch->parts.empty());
      out.push_back(content(*batch));
    }
    return out;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
  std::optional<Dataset> dataset_;
  std::optional<Sampler> sampler_;
  LoaderOptions options_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(SequenceLoaderTest, EqualsDirectCollate) {
  Loader loader(*dataset_, *sampler_, *device_, options_, {});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const EpochPlan plan = sampler_->plan(epoch);
    ASSERT_GT(plan.steps(), 3);
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      const auto batch = loader.next();
      ASSERT_TRUE(batch.has_value());
      LoadedBatch expected;
      expected.sequences =
          collate_tokens(*dataset_, plan.batch(step), *options_.sequences, epoch, 50, *device_);
      EXPECT_EQ(content(*batch), content(expected));
      EXPECT_EQ(batch->molecules, std::ssize(plan.batch(step)));
    }
  }
  EXPECT_FALSE(loader.next().has_value());
}

TEST_F(SequenceLoaderTest, TheSameOnAnyThreadsAndAfterAResume) {
  const auto all = run(*device_);
  const auto other = make_cpu_device(3);
  EXPECT_EQ(run(*other), all);
  const std::int64_t first_epoch = sampler_->steps(0);
  const auto rest = run(*device_, {1, 2});
  const std::vector<std::vector<std::int32_t>> expected(all.begin() + first_epoch + 2, all.end());
  EXPECT_EQ(rest, expected);
  EXPECT_NE(all[0], all[static_cast<std::size_t>(first_epoch)]) << "other masks in other epochs";
}

TEST_F(SequenceLoaderTest, ImpossibleOptionsAreRefused) {
  options_.pack = [](const GraphBatch&) { return PackedBatch{}; };
  EXPECT_THROW(Loader(*dataset_, *sampler_, *device_, options_), UserError);
  options_.pack = {};
  options_.tokens_per_part = -1;
  EXPECT_THROW(Loader(*dataset_, *sampler_, *device_, options_), UserError);
}

}  // namespace
}  // namespace moiety::data

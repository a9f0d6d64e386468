// SPDX-License-Identifier: Apache-2.0
#include "data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/dataset_files.h"
#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests
using Rows = std::vector<std::int64_t>;

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() {
    write_dataset(folder_ / "a.h5", random_molecules(101, 1));
    dataset_.emplace(folder_ / "a.h5");
    std::iota(all_.begin(), all_.end(), 0);
  }
  Sampler sampler(const SamplerOptions& options) const { return {*dataset_, all_, options}; }

  /// What the ranks of a world get in one epoch, step by step, put together.
  Rows gathered(SamplerOptions options, std::int64_t epoch) const {
    const std::int64_t steps = sampler(options).steps(epoch);
    Rows out;
    for (std::int64_t step = 0; step < steps; ++step) {
      for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
        const EpochPlan plan = sampler(options).plan(epoch);
        EXPECT_EQ(plan.steps(), steps) << "rank " << options.rank;
        const auto batch = plan.batch(step);
        const std::int64_t share = std::ssize(plan.global_batch(step)) / options.world_size;
        EXPECT_GE(std::ssize(batch), share);
        EXPECT_LE(std::ssize(batch), share + 1);
        out.insert(out.end(), batch.begin(), batch.end());
      }
    }
    return out;
  }

  TemporaryFolder folder_;
  std::optional<Dataset> dataset_;
  Rows all_ = Rows(101);
};

TEST_F(SamplerTest, EverySampleOnceOverAllRanks) {
  for (const int world : {1, 2, 3, 4, 7}) {
    SamplerOptions options{.batch_size = 10, .world_size = world};
    EXPECT_EQ(gathered(options, 0), all_) << "evaluation keeps the order";
    options.shuffle = true;
    Rows shuffled = gathered(options, 3);
    EXPECT_NE(shuffled, all_);
    std::ranges::sort(shuffled);
    EXPECT_EQ(shuffled, all_) << world;
    SamplerOptions budget{.node_budget = 40, .edge_budget = 70, .shuffle = true};
    budget.world_size = world;
    Rows dynamic = gathered(budget, 1);
    std::ranges::sort(dynamic);
    EXPECT_EQ(dynamic, all_) << world;
  }
}

TEST_F(SamplerTest, WorldSizeDoesNotChangeTheSteps) {
  SamplerOptions options{.batch_size = 16, .shuffle = true, .seed = 5};
  const Rows alone = gathered(options, 2);
  for (const int world : {2, 3, 8}) {
    options.world_size = world;
    EXPECT_EQ(gathered(options, 2), alone);
  }
}

TEST_F(SamplerTest, ShuffleDependsOnSeedAndEpochAlone) {
  const SamplerOptions options{.batch_size = 101, .shuffle = true, .seed = 9};
  const Rows first = gathered(options, 0);
  EXPECT_EQ(gathered(options, 0), first);
  EXPECT_NE(gathered(options, 1), first);
  SamplerOptions other = options;
  other.seed = 10;
  EXPECT_NE(gathered(other, 0), first);
}

/// Over many epochs each molecule comes first about equally often: chi-square with 100 degrees of
/// freedom is below 150 but once in a thousand.
TEST_F(SamplerTest, ShuffleIsUniform) {
  const Sampler shuffling = sampler({.batch_size = 1, .shuffle = true});
  std::vector<double> first(101);
  constexpr int kEpochs = 10100;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    ++first[static_cast<std::size_t>(shuffling.plan(epoch).batch(0)[0])];
  }
  double chi_square = 0;
  for (const double count : first) chi_square += (count - 100) * (count - 100) / 100;
  EXPECT_LT(chi_square, 150);
}

TEST_F(SamplerTest, BudgetsHoldAndAreUsed) {
  const SamplerOptions options{.node_budget = 50, .edge_budget = 90, .shuffle = true};
  const EpochPlan plan = sampler(options).plan(0);
  const auto totals = [&](std::int64_t step) {
    std::pair<std::int64_t, std::int64_t> out;
    for (const std::int64_t m : plan.batch(step)) {
      out.first += dataset_->atoms(m);
      out.second += dataset_->edges(m);
    }
    return out;
  };
  for (std::int64_t step = 0; step < plan.steps(); ++step) {
    const auto [nodes, edges] = totals(step);
    EXPECT_LE(nodes, 50);
    EXPECT_LE(edges, 90);
    if (step + 1 == plan.steps()) continue;
    const std::int64_t next = plan.batch(step + 1)[0];
    EXPECT_TRUE(nodes + dataset_->atoms(next) > 50 || edges + dataset_->edges(next) > 90);
  }
}

TEST_F(SamplerTest, DropLastLeavesFullBatches) {
  EXPECT_EQ(sampler({.batch_size = 10}).steps(0), 11);
  const Sampler dropping = sampler({.batch_size = 10, .drop_last = true});
  EXPECT_EQ(dropping.steps(0), 10);
  EXPECT_EQ(dropping.plan(0).batch(9).size(), 10u);
  EXPECT_EQ(sampler({.batch_size = 101, .drop_last = true}).steps(0), 1);
}

TEST_F(SamplerTest, FewerMoleculesThanRanks) {
  const SamplerOptions options{.batch_size = 4, .rank = 0, .world_size = 8};
  EXPECT_TRUE(sampler(options).plan(0).batch(0).empty());
  EXPECT_EQ(gathered(options, 0), all_);
}

TEST_F(SamplerTest, ContradictionsAreUserErrors) {
  const auto refused = [&](const SamplerOptions& options, const std::string& word) {
    EXPECT_TRUE(says(error_text<UserError>([&] { sampler(options); }), {word}));
  };
  refused({}, "batch_size");
  refused({.batch_size = 4, .node_budget = 3}, "node_budget");
  refused({.node_budget = 100}, "edge_budget");
  refused({.batch_size = -1}, "batch_size");
  refused({.node_budget = 11, .edge_budget = 100}, "more than node_budget 11");
  refused({.node_budget = 100, .edge_budget = 100, .drop_last = true}, "drop_last");
  refused({.batch_size = 102, .drop_last = true}, "drop_last");
  refused({.batch_size = 1, .rank = 2, .world_size = 2}, "rank 2 of 2");
  EXPECT_THROW(Sampler(*dataset_, {}, {.batch_size = 1}), UserError);
  EXPECT_THROW(sampler({.batch_size = 1}).plan(0).batch(101), ShapeError);
}

TEST(TokenBudget, FillsStepsUpToIt) {
  const TemporaryFolder folder;
  write_token_dataset(folder / "t.h5", some_smiles());
  const Dataset dataset(folder / "t.h5");
  Rows all(30);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t max_length : {0, 8}) {
    const auto length = [&](std::int64_t row) {
      const auto own = std::ssize(dataset.tokens(row));
      return max_length > 0 ? std::min<std::int64_t>(own, max_length) : own;
    };
    const Sampler sampler(
        dataset, all, {.token_budget = 64, .max_length = max_length, .shuffle = true, .seed = 2});
    const EpochPlan plan = sampler.plan(1);
    Rows seen;
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      std::int64_t tokens = 0;
      for (const std::int64_t row : plan.batch(step)) tokens += length(row);
      EXPECT_LE(tokens, 64);
      if (step + 1 < plan.steps()) {
        EXPECT_GT(tokens + length(plan.batch(step + 1).front()), 64) << "as many as there is room";
      }
      seen.insert(seen.end(), plan.batch(step).begin(), plan.batch(step).end());
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, all);
  }
}

TEST(TokenBudget, ImpossibleOnesAreNamed) {
  const TemporaryFolder folder;
  write_token_dataset(folder / "t.h5", some_smiles());
  const Dataset dataset(folder / "t.h5");
  const auto refusal = [&](const SamplerOptions& options) {
    return error_text<UserError>([&] { const Sampler sampler(dataset, Rows{3, 0}, options); });
  };
  EXPECT_TRUE(says(refusal({.token_budget = 10}),
                   {"t.h5: molecule 0", "tokens", "token_budget 10", "raise it"}));
  EXPECT_EQ(refusal({.token_budget = 10, .max_length = 10}), "nothing was thrown");
  for (const SamplerOptions& bad :
       {SamplerOptions{.batch_size = 4, .token_budget = 100},
        SamplerOptions{.node_budget = 4, .edge_budget = 4, .token_budget = 100},
        SamplerOptions{.node_budget = 4, .token_budget = 100},
        SamplerOptions{.token_budget = -1}}) {
    EXPECT_TRUE(says(refusal(bad), {"batch_size", "token_budget"}));
  }
  EXPECT_TRUE(says(refusal({.node_budget = 40, .edge_budget = 40}), {"t.h5", "no graphs"}));
}

}  // namespace
}  // namespace moiety::data

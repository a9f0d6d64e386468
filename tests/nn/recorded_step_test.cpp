// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_training.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "support/toy_graphs.h"

namespace moiety::nn {
namespace {

using testing::make_toy_batch;
using testing::make_toy_molecules;

GraphModelConfig toy_config(ConvKind conv, NormKind norm) {
  return {.conv = conv,
          .hidden = 16,
          .layers = 2,
          .norm = norm,
          .dropout = 0.2,
          .atom_dims = testing::kToyAtomDims,
          .bond_dims = testing::kToyBondDims};
}

Variable toy_loss(const GraphModel& model, const GraphBatch& batch, ForwardContext& context) {
  return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
}

class Training : public RecordedTraining<GraphModel, GraphBatch> {
 public:
  Training(Device& device, const GraphModelConfig& config)
      // Adam would make full steps of the rounding errors of biases before a batch norm.
      : RecordedTraining(device,
                         config.norm == NormKind::batch ? OptimizerKind::sgd : OptimizerKind::adamw,
                         toy_loss, config) {}
};

/// Batches of two padded sizes, and of one of them several different ones.
std::vector<GraphBatch> some_batches(Device& host) {
  const auto molecules = make_toy_molecules(40, 3);
  std::vector<GraphBatch> out;
  for (const auto& [begin, end] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 6}, {6, 12}, {12, 34}, {13, 19}, {12, 34}, {20, 26}, {5, 27}, {26, 32}}) {
    out.push_back(make_toy_batch(molecules, begin, end, host));
  }
  return out;
}

class RecordedStepTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Device> device_ = make_device(GetParam(), 1);
  std::vector<GraphBatch> batches_ = some_batches(device_->host());
};

TEST_P(RecordedStepTest, FollowsPlainSteps) {
  for (const auto& [conv, norm] :
       {std::pair{ConvKind::gcn, NormKind::none}, std::pair{ConvKind::gcn, NormKind::layer},
        std::pair{ConvKind::gine, NormKind::batch}}) {
    Training plain(*device_, toy_config(conv, norm));
    Training recorded(*device_, toy_config(conv, norm));
    std::vector<StepResult> results;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      recorded.record({batches_[i]});
      for (const StepResult& result : recorded.recorded().results(false)) results.push_back(result);
      EXPECT_LE(i + 1 - results.size(), 3u) << "the host runs too far ahead";
    }
    for (const StepResult& result : recorded.recorded().results(true)) results.push_back(result);
    ASSERT_EQ(results.size(), batches_.size());
    EXPECT_EQ(recorded.recorded().recordings(), 2);
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      const StepResult expected = plain.plain(batches_[i]);
      EXPECT_NEAR(results[i].loss, expected.loss, 1e-5 * expected.loss) << i;
      EXPECT_NEAR(results[i].report.gradient_norm, expected.report.gradient_norm,
                  1e-4 * expected.report.gradient_norm);
      EXPECT_FALSE(results[i].report.skipped);
    }
    expect_near(recorded.weights(), plain.weights(), 2e-5);
    expect_near(recorded.averages(), plain.averages(), 2e-5);
    expect_near(recorded.statistics(), plain.statistics(), 1e-5);
    EXPECT_EQ(recorded.optimizer().steps(), std::ssize(batches_));
  }
}

TEST_P(RecordedStepTest, AReplayHasTheBitsOfAFirstRun) {
  const GraphModelConfig config = toy_config(ConvKind::gine, NormKind::batch);
  Training replayed(*device_, config);
  Training fresh(*device_, config);
  for (const GraphBatch& batch : batches_) {
    replayed.record({batch});
    fresh.record({batch});
    fresh.restart();  // its next step runs as it is
  }
  EXPECT_EQ(replayed.weights(), fresh.weights());
  EXPECT_EQ(replayed.averages(), fresh.averages());
}

TEST_P(RecordedStepTest, PartsAddUp) {
  GraphModelConfig config = toy_config(ConvKind::gcn, NormKind::layer);
  config.dropout = 0;
  Training whole(*device_, config);
  Training parts(*device_, config);
  const auto molecules = make_toy_molecules(24, 8);
  for (int round = 0; round < 4; ++round) {
    whole.record({make_toy_batch(molecules, 0, 24, device_->host())});
    parts.record({make_toy_batch(molecules, 0, 9, device_->host()),
                  make_toy_batch(molecules, 9, 16, device_->host()),
                  make_toy_batch(molecules, 16, 24, device_->host())});
  }
  const std::vector<StepResult> one = whole.recorded().results(true);
  const std::vector<StepResult> three = parts.recorded().results(true);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i].loss, three[i].loss, 1e-5 * one[i].loss);
  }
  expect_near(whole.weights(), parts.weights(), 1e-5);
}

TEST_P(RecordedStepTest, DropsOtherElementsEachTimeAndInEachPart) {
  Training training(*device_, toy_config(ConvKind::gcn, NormKind::none));
  for (int i = 0; i < 3; ++i) training.record({batches_[0]});
  training.record({batches_[0], batches_[0]});
  const std::vector<StepResult> results = training.recorded().results(true);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_NE(results[1].loss, results[2].loss);
  // Twice the same molecules with the same masks would be the mean of one.
  Training again(*device_, toy_config(ConvKind::gcn, NormKind::none));
  for (int i = 0; i < 4; ++i) again.record({batches_[0]});
  EXPECT_NE(again.recorded().results(true)[3].loss, results[3].loss);
}

TEST_P(RecordedStepTest, MemoryOfRecordingsIsNotGivenBack) {
  const GraphModelConfig config = toy_config(ConvKind::gine, NormKind::batch);
  Training left_alone(*device_, config);
  Training trimmed(*device_, config);
  for (const GraphBatch& batch : batches_) {
    left_alone.record({batch});
    trimmed.record({batch});
    trimmed.recorded().results(true);
    device_->allocator().trim();
    Tensor::zeros({1 << 20}, DType::f32, *device_);  // on memory that came back
  }
  EXPECT_EQ(trimmed.weights(), left_alone.weights());
}

TEST_P(RecordedStepTest, SkipsWhatIsNotFiniteAndGivesUp) {
  Training training(*device_, toy_config(ConvKind::gcn, NormKind::none));
  GraphBatch bad = make_toy_batch(make_toy_molecules(6, 1), 0, 6, device_->host());
  bad.y.data<float>()[2] = std::numeric_limits<float>::infinity();
  training.record({bad});
  training.recorded().results(true);
  const std::vector<float> before = training.weights();
  training.record({bad});
  const std::vector<StepResult> results = training.recorded().results(true);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].report.skipped);
  EXPECT_EQ(results[0].report.skipped_in_a_row, 2);
  EXPECT_EQ(training.weights(), before);
  EXPECT_EQ(training.optimizer().skipped(), 2);
  training.record({bad});
  EXPECT_TRUE(testing::says(testing::error_text([&] { training.recorded().results(true); }),
                            {"not finite in 3 steps in a row"}));
}

TEST_P(RecordedStepTest, TakesBatchesOfOneKind) {
  Training training(*device_, toy_config(ConvKind::gcn, NormKind::none));
  training.record({batches_[0]});
  GraphBatch other = batches_[0];
  other.y = Tensor::zeros({other.graphs(), 100}, DType::f32, device_->host());
  EXPECT_TRUE(testing::says(testing::error_text([&] { training.record({other}); }),
                            {"the same features and targets"}));
}

INSTANTIATE_TEST_SUITE_P(Devices, RecordedStepTest, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include "nn/recorded_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/engine.h"
#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "support/toy_graphs.h"

namespace moiety::nn {
namespace {

using testing::make_toy_batch;
using testing::make_toy_molecules;

constexpr std::uint64_t kSeed = 5;
constexpr double kLr = 0.01;

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

/// A model in training, one way or the other.
class Training {
 public:
  Training(Device& device, const GraphModelConfig& config)
      : device_(device),
        init_(device, kSeed),
        model_(init_, config),
        parameters_(model_),
        gradients_(parameters_.make_buffer()),
        // Adam would make full steps of the rounding errors of biases before a batch norm.
        optimizer_(parameters_, {.kind = config.norm == NormKind::batch ? OptimizerKind::sgd
                                                                        : OptimizerKind::adamw,
                                 .weight_decay = 0.01,
                                 .clip_norm = 1,
                                 .max_skipped = 2}),
        ema_(parameters_, 0.9) {
    restart();
  }

  /// From here on nothing is recorded yet.
  void restart() {
    recorded_ =
        std::make_unique<RecordedStep>(parameters_, gradients_, optimizer_, &ema_,
                                       [this](const GraphBatch& batch, ForwardContext& context) {
                                         return toy_loss(model_, batch, context);
                                       });
  }

  /// Queues a step over batches on the host.
  void record(const std::vector<GraphBatch>& batches) {
    std::int64_t graphs = 0;
    for (const GraphBatch& batch : batches) graphs += batch.graphs();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      recorded_->run({.batch = pack(batches[i], padded_size(batches[i]), sizeof(StepNumbers),
                                    device_.staging()),
                      .seed = kSeed,
                      .step = step_,
                      .number = static_cast<std::int64_t>(i),
                      .last = i + 1 == batches.size(),
                      .lr = kLr,
                      .scale = 1.0 / static_cast<double>(graphs)});
    }
    ++step_;
  }

  /// The same step as it is without any of that.
  StepResult plain(const GraphBatch& batch) {
    auto context = ForwardContext::training(kSeed, step_++);
    const GraphBatch moved = to_device(batch, device_);
    const double scale = 1.0 / static_cast<double>(batch.graphs());
    const Variable loss =
        ops::regression_loss(model_.forward(moved, context), moved.y, ops::Loss::mse, scale);
    gradients_.flat.fill_zero();
    autograd::backward(loss, parameters_.parameters(), gradients_.views);
    const StepReport report = optimizer_.step(gradients_, kLr);
    ema_.update();
    return {loss.item(), report};
  }

  RecordedStep& recorded() { return *recorded_; }
  const Optimizer& optimizer() const { return optimizer_; }
  std::vector<float> weights() const { return parameters_.values().to_vector<float>(); }
  std::vector<float> averages() const { return ema_.average().flat.to_vector<float>(); }
  std::vector<float> statistics() const {
    std::vector<float> all;
    for (const auto& [name, buffer] : model_.named_buffers()) {
      const auto values = buffer.to_vector<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  Device& device_;
  Initializer init_;
  GraphModel model_;
  FlatParameters parameters_;
  FlatBuffer gradients_;
  Optimizer optimizer_;
  Ema ema_;
  std::unique_ptr<RecordedStep> recorded_;
  std::uint64_t step_ = 0;
};

void expect_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

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

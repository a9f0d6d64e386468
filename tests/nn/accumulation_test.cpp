// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_training.h"
#include "nn/transformer_pass.h"
#include "support/devices.h"
#include "support/toy_graphs.h"

// A step over 4 batches of 16 is one over a batch of 64.
namespace moiety::nn {
namespace {

class Accumulation : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Training>
  static void compare(Training& parts, Training& whole) {
    const StepResult many = parts.recorded().results(true).at(0);
    const StepResult one = whole.recorded().results(true).at(0);
    EXPECT_NEAR(many.loss, one.loss, 1e-5 * one.loss);
    EXPECT_NEAR(many.report.gradient_norm, one.report.gradient_norm,
                1e-5 * one.report.gradient_norm);
    EXPECT_LT(relative_distance(parts.gradient(), whole.gradient()), 1e-5);
    EXPECT_LT(relative_distance(parts.weights(), whole.weights()), 1e-6);
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
};

TEST_P(Accumulation, OfAGraphModel) {
  const auto molecules = testing::make_toy_molecules(64, 3);
  const GraphModelConfig config{.conv = ConvKind::gine,
                                .hidden = 16,
                                .layers = 2,
                                .norm = NormKind::layer,
                                .atom_dims = testing::kToyAtomDims,
                                .bond_dims = testing::kToyBondDims};
  using Training = RecordedTraining<GraphModel, GraphBatch>;
  const auto loss = [](const GraphModel& model, const GraphBatch& batch, ForwardContext& context) {
    return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
  };
  Training parts(*device_, OptimizerKind::sgd, loss, config);
  Training whole(*device_, OptimizerKind::sgd, loss, config);
  std::vector<GraphBatch> batches;
  for (std::size_t i = 0; i < 64; i += 16) {
    batches.push_back(testing::make_toy_batch(molecules, i, i + 16, device_->host()));
  }
  parts.record(batches);
  whole.record({testing::make_toy_batch(molecules, 0, 64, device_->host())});
  compare(parts, whole);
}

TEST_P(Accumulation, OfALanguageModel) {
  Numbers lengths;
  for (std::int32_t i = 0; i < 64; ++i) lengths.push_back(1 + i * 7 % 6);
  TokenBatch batch = pack_tokens(random_sequences(lengths), device_->host());
  Numbers labels;
  for (std::int64_t t = 0; t < batch.token_count(); ++t) {
    labels.push_back(t % 3 == 1 ? static_cast<std::int32_t>(t % 20) : -100);
  }
  score_labelled(batch, labels);
  TransformerConfig config = small_config();
  config.hidden = 16;
  config.layers = 1;
  using Training = RecordedTraining<MaskedLanguageModel, TokenBatch>;
  const auto loss = [](const MaskedLanguageModel& model, const TokenBatch& tokens,
                       ForwardContext& context) { return model.loss(tokens, context); };
  Training parts(*device_, OptimizerKind::sgd, loss, config);
  Training whole(*device_, OptimizerKind::sgd, loss, config);
  std::vector<TokenBatch> batches;
  for (std::int64_t i = 0; i < 64; i += 16) batches.push_back(part_of(batch, i, i + 16));
  parts.record(batches);
  whole.record({batch});
  compare(parts, whole);
}

INSTANTIATE_TEST_SUITE_P(Devices, Accumulation, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include "nn/recomputed.h"

#include <gtest/gtest.h>

#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_training.h"
#include "nn/transformer_pass.h"
#include "support/devices.h"
#include "support/toy_graphs.h"

namespace moiety::nn {
namespace {

template <class Model>
auto language_loss(bool recomputes, DType dtype = DType::f32) {
  return [=](const Model& model, const TokenBatch& batch, ForwardContext& context) {
    context.recompute_blocks(recomputes);
    context.compute_in(dtype);
    return model.loss(batch, context);
  };
}

auto graph_loss(bool recomputes) {
  return [=](const GraphModel& model, const GraphBatch& batch, ForwardContext& context) {
    context.recompute_blocks(recomputes);
    return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
  };
}

class RecomputedTest : public ::testing::TestWithParam<std::string> {
 protected:
  /// Some recorded steps, with and without.
  template <class Training, class Loss, class Batch, class Config>
  void compare(const Loss& loss, const Batch& batch, const Config& config) {
    const auto run = [&](bool recomputes) {
      Training training(*device_, OptimizerKind::sgd, loss(recomputes), config);
      for (int i = 0; i < 3; ++i) training.record({batch});
      training.recorded().results(true);
      std::vector<std::vector<float>> all = {training.gradient(), training.weights(),
                                             training.statistics()};
      return all;
    };
    EXPECT_EQ(run(true), run(false));
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
};

TEST_P(RecomputedTest, TransformersHaveTheSameBits) {
  const TokenBatch batch = labelled_batch(device_->host());
  TransformerConfig config = with_dropout(small_config());
  config.hidden = 16;
  const auto masked = [](bool recomputes) {
    return language_loss<MaskedLanguageModel>(recomputes);
  };
  compare<RecordedTraining<MaskedLanguageModel, TokenBatch>>(masked, batch, config);
  const auto causal = [](bool recomputes) {
    return language_loss<CausalLanguageModel>(recomputes, DType::bf16);
  };
  compare<RecordedTraining<CausalLanguageModel, TokenBatch>>(causal, batch,
                                                             with_dropout(other_config()));
}

TEST_P(RecomputedTest, GraphModelsHaveTheSameBits) {
  const GraphBatch batch =
      testing::make_toy_batch(testing::make_toy_molecules(10, 3), 0, 10, device_->host());
  GraphModelConfig config{.hidden = 16,
                          .layers = 2,
                          .dropout = 0.2,
                          .atom_dims = testing::kToyAtomDims,
                          .bond_dims = testing::kToyBondDims};
  for (const ConvKind conv : {ConvKind::gcn, ConvKind::gine}) {
    for (const NormKind norm : {NormKind::none, NormKind::batch}) {
      config.conv = conv;
      config.norm = norm;
      compare<RecordedTraining<GraphModel, GraphBatch>>(graph_loss, batch, config);
    }
  }
  config.norm = NormKind::layer;
  config.attention = true;
  config.attention_dropout = 0.2;
  compare<RecordedTraining<GraphModel, GraphBatch>>(graph_loss, batch, config);
}

INSTANTIATE_TEST_SUITE_P(Devices, RecomputedTest, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

/// A pass in parts on two threads; what it took beside the parameters.
struct Cost {
  Pass pass;
  std::size_t peak = 0;
};

Cost cost_of(bool recomputes) {
  TransformerConfig config = with_dropout(small_config());
  config.layers = 6;
  config.hidden = 64;
  const auto device = make_cpu_device(2);
  Initializer init(*device, 3);
  const MaskedLanguageModel model(init, config);
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  TokenBatch batch = pack_tokens(random_sequences(Numbers(32, 16)), *device);
  Numbers labels = batch.tokens.to_vector<std::int32_t>();
  for (std::size_t t = 0; t < labels.size(); ++t) labels[t] = t % 5 == 1 ? labels[t] : -100;
  score_labelled(batch, labels);
  ParallelStep step(parameters, true);
  const std::size_t before = device->allocator().stats().bytes_in_use;
  Cost cost;
  cost.pass.loss = step.run(
      2,
      [&](std::int64_t part) {
        auto context = ForwardContext::training(5, 17);
        context.recompute_blocks(recomputes);
        return model.loss(part_of(batch, 16 * part, 16 * part + 16), context);
      },
      gradients);
  cost.pass.gradient = gradients.flat.to_vector<float>();
  cost.peak = device->allocator().stats().peak_in_use - before;
  return cost;
}

TEST(RecomputedMemory, IsSmallerForTheSameBits) {
  const Cost kept = cost_of(false);
  const Cost again = cost_of(true);
  EXPECT_EQ(again.pass.loss, kept.pass.loss);
  EXPECT_EQ(again.pass.gradient, kept.pass.gradient);
  EXPECT_LT(2 * again.peak, kept.peak);
}

TEST(RecomputedMemory, DoesNotGrowWithWhatALayerSaves) {
  const auto peak = [](std::int64_t layers, bool recomputes) {
    TransformerConfig config = with_dropout(small_config());
    config.layers = layers;
    const auto device = make_cpu_device(1);
    Initializer init(*device, 3);
    const CausalLanguageModel model(init, config);
    std::vector<Numbers> sequences = random_sequences(Numbers(64, 16));
    const TokenBatch batch = pack_tokens(sequences, *device);
    const std::size_t before = device->allocator().stats().bytes_in_use;
    auto context = ForwardContext::training(5, 17);
    context.recompute_blocks(recomputes);
    const Variable h = model.forward(batch, context);
    return static_cast<double>(device->allocator().stats().bytes_in_use - before);
  };
  const double kept = peak(6, false) - peak(2, false);
  const double again = peak(6, true) - peak(2, true);
  // One activation a layer of 1,024 x 24 f32, instead of some fifteen and the attention's.
  EXPECT_GT(kept, 8 * again);
  EXPECT_NEAR(again, 4 * 1024 * 24 * 4, 0.3 * 4 * 1024 * 24 * 4);
}

}  // namespace
}  // namespace moiety::nn

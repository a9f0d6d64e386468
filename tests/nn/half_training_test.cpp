// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_training.h"
#include "nn/transformer_pass.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "support/toy_graphs.h"

// Whole trainings in bf16 and f16, with f32 weights, on each device.
namespace moiety::nn {
namespace {

OptimizerConfig optimizer_for(DType dtype, double loss_scale = 0x1p12) {
  OptimizerConfig config;
  config.clip_norm = 1;
  config.loss_scale = dtype == DType::f16 ? loss_scale : 0;
  config.loss_scale_interval = 5;
  config.max_skipped = 2;
  return config;
}

template <class Model>
auto language_loss(DType dtype) {
  return [dtype](const Model& model, const TokenBatch& batch, ForwardContext& context) {
    context.compute_in(dtype);
    return model.loss(batch, context);
  };
}

auto graph_loss(DType dtype) {
  return [dtype](const GraphModel& model, const GraphBatch& batch, ForwardContext& context) {
    context.compute_in(dtype);
    return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
  };
}

TransformerConfig tiny_config() {
  TransformerConfig config = small_config();
  config.hidden = 16;
  config.layers = 1;
  config.heads = 2;
  return config;
}

GraphModelConfig graph_config(ConvKind conv) {
  return {.conv = conv,
          .hidden = 16,
          .layers = 2,
          .norm = NormKind::layer,
          .atom_dims = testing::kToyAtomDims,
          .bond_dims = testing::kToyBondDims};
}

/// Losses of steps over one batch.
template <class Training, class Batch>
std::vector<double> losses(Training training, const Batch& batch, int steps) {
  for (int i = 0; i < steps; ++i) training->record({batch});
  std::vector<double> out;
  for (const StepResult& result : training->recorded().results(true)) out.push_back(result.loss);
  EXPECT_EQ(std::ssize(out), steps);
  return out;
}

/// Each loss is within `band` times the first one of its counterpart, and the model learns.
void expect_follows(const std::vector<double>& half, const std::vector<double>& exact,
                    double band) {
  ASSERT_EQ(half.size(), exact.size());
  EXPECT_LT(exact.back(), 0.95 * exact.front());
  bool differs = false;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(half[i], exact[i], band * exact.front()) << "step " << i;
    differs = differs || half[i] != exact[i];
  }
  EXPECT_TRUE(differs);
}

class HalfTraining : public ::testing::TestWithParam<std::string> {
 protected:
  static double band(DType dtype) { return dtype == DType::bf16 ? 0.03 : 0.02; }
  /// An emulated GPU takes its time.
  int steps() const { return device_->is_cuda() ? 6 : 16; }

  template <class Model>
  void follow_f32(const TransformerConfig& config) {
    const TokenBatch batch = labelled_batch(device_->host());
    const auto curve = [&](DType dtype) {
      return losses(std::make_unique<RecordedTraining<Model, TokenBatch>>(
                        *device_, optimizer_for(dtype), language_loss<Model>(dtype), config),
                    batch, steps());
    };
    const std::vector<double> exact = curve(DType::f32);
    for (const DType dtype : {DType::bf16, DType::f16}) {
      expect_follows(curve(dtype), exact, band(dtype));
    }
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
};

TEST_P(HalfTraining, MaskedLanguageModelsFollowF32) {
  follow_f32<MaskedLanguageModel>(with_dropout(tiny_config()));
}

TEST_P(HalfTraining, CausalLanguageModelsFollowF32) {
  TransformerConfig config = other_config();  // rotary positions, RMS norms, SwiGLU
  config.hidden = 16;
  config.layers = 1;
  config.heads = 2;
  config.key_heads = 1;
  follow_f32<CausalLanguageModel>(config);
}

TEST_P(HalfTraining, GraphModelsFollowF32) {
  const GraphBatch batch =
      testing::make_toy_batch(testing::make_toy_molecules(12, 3), 0, 12, device_->host());
  for (const ConvKind conv : {ConvKind::gcn, ConvKind::gin, ConvKind::gine}) {
    const auto curve = [&](DType dtype) {
      return losses(std::make_unique<RecordedTraining<GraphModel, GraphBatch>>(
                        *device_, optimizer_for(dtype), graph_loss(dtype), graph_config(conv)),
                    batch, steps());
    };
    const std::vector<double> exact = curve(DType::f32);
    for (const DType dtype : {DType::bf16, DType::f16}) {
      expect_follows(curve(dtype), exact, band(dtype));
    }
  }
}

using Masked = RecordedTraining<MaskedLanguageModel, TokenBatch>;

TEST_P(HalfTraining, RecoversFromGradientsThatOverflow) {
  const TokenBatch batch = labelled_batch(device_->host());
  // 2^24 times the gradient of a loss is beyond 65504, the largest f16.
  Masked training(*device_, optimizer_for(DType::f16, 0x1p24),
                  language_loss<MaskedLanguageModel>(DType::f16), tiny_config());
  const std::vector<float> start = training.weights();
  training.record({batch});
  StepResult result = training.recorded().results(true).at(0);
  EXPECT_TRUE(result.report.skipped);
  EXPECT_EQ(result.report.loss_scale, 0x1p23);
  EXPECT_TRUE(std::isfinite(result.loss));
  EXPECT_EQ(training.weights(), start);
  double scale = 0x1p23;
  int skipped = 1;
  for (; result.report.skipped && skipped < 24; ++skipped) {
    training.record({batch});
    result = training.recorded().results(true).at(0);
    EXPECT_EQ(result.report.loss_scale, result.report.skipped ? scale / 2 : scale);
    scale = result.report.loss_scale;
  }
  EXPECT_GT(skipped, 5);  // more than may be skipped in a row for another reason
  EXPECT_LT(skipped, 24);
  EXPECT_TRUE(std::isfinite(result.report.gradient_norm));
  EXPECT_NE(training.weights(), start);
  for (int i = 0; i < 8; ++i) training.record({batch});
  double last = 0;
  for (const StepResult& each : training.recorded().results(true)) last = each.loss;
  EXPECT_LT(last, result.loss);
}

TEST_P(HalfTraining, GivesUpWhereNoScaleHelps) {
  TokenBatch batch = labelled_batch(device_->host());
  Masked training(
      *device_, optimizer_for(DType::f16, 2),
      [](const MaskedLanguageModel& model, const TokenBatch& tokens, ForwardContext& context) {
        return ops::affine(model.loss(tokens, context), std::nan(""), 0);
      },
      tiny_config());
  EXPECT_TRUE(testing::says(testing::error_text([&] {
                              for (int i = 0; i < 8; ++i) {
                                training.record({batch});
                                training.recorded().results(true);
                              }
                            }),
                            {"not finite in 3 steps in a row"}));
}

TEST_P(HalfTraining, GoesOnToTheSameBits) {
  const TokenBatch batch = labelled_batch(device_->host());
  const auto make = [&](double loss_scale) {
    return std::make_unique<Masked>(*device_, optimizer_for(DType::f16, loss_scale),
                                    language_loss<MaskedLanguageModel>(DType::f16),
                                    with_dropout(tiny_config()));
  };
  const auto whole = make(64);
  for (int i = 0; i < 7; ++i) whole->record({batch});
  Checkpoint checkpoint;
  whole->recorded().results(true);
  whole->save(checkpoint);
  EXPECT_EQ(checkpoint.get_f64("optimizer.loss_scale"), 128);
  const auto second = make(64);
  second->restore(checkpoint, 7);
  for (const auto& training : {whole.get(), second.get()}) {
    for (int i = 0; i < 5; ++i) training->record({batch});
  }
  const auto expected = whole->recorded().results(true);
  const auto got = second->recorded().results(true);
  EXPECT_EQ(got.back().report.loss_scale, 256);
  EXPECT_EQ(got.back().report.loss_scale, expected.back().report.loss_scale);
  EXPECT_EQ(second->weights(), whole->weights());
}

INSTANTIATE_TEST_SUITE_P(Devices, HalfTraining, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

TEST(HalfTrainingOnTwoDevices, Bf16GoesOnOnTheOther) {
  if (cuda_status().count == 0) return;
  const auto cpu = make_device("cpu", 1);
  const auto gpu = make_device("cuda", 1);
  const TokenBatch batch = labelled_batch(*cpu);
  const auto make = [&](Device& device) {
    return std::make_unique<Masked>(device, optimizer_for(DType::bf16),
                                    language_loss<MaskedLanguageModel>(DType::bf16), tiny_config());
  };
  for (const auto& [from, to] :
       {std::pair(cpu.get(), gpu.get()), std::pair(gpu.get(), cpu.get())}) {
    const auto first = make(*from);
    for (int i = 0; i < 2; ++i) first->record({batch});
    const double before = first->recorded().results(true).front().loss;
    Checkpoint checkpoint;
    first->save(checkpoint);
    for (auto& [name, tensor] : checkpoint.tensors) tensor = tensor.to(*to);
    const auto second = make(*to);
    second->restore(checkpoint, 2);
    for (const auto& training : {first.get(), second.get()}) training->record({batch});
    const double expected = first->recorded().results(true).back().loss;
    const double got = second->recorded().results(true).back().loss;
    EXPECT_LT(expected, before);
    EXPECT_NEAR(got, expected, 0.01 * expected);
  }
}

}  // namespace
}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "nn/transformer_pass.h"

namespace moiety::nn {
namespace {

TEST(Transformer, PartsOfABatchAddUpToIt) {
  const auto device = make_cpu_device(2);
  for (const TransformerConfig& config : {small_config(), other_config()}) {
    const Pass whole = run_pass<MaskedLanguageModel>(with_dropout(config), *device, {7});
    const Pass parts = run_pass<MaskedLanguageModel>(with_dropout(config), *device, {1, 2, 5, 7});
    EXPECT_NEAR(parts.loss, whole.loss, 1e-5 * whole.loss);
    EXPECT_LT(relative_distance(parts.gradient, whole.gradient), 1e-5);
    const Pass causal = run_pass<CausalLanguageModel>(with_dropout(config), *device, {7});
    const Pass causal_parts = run_pass<CausalLanguageModel>(with_dropout(config), *device, {3, 7});
    EXPECT_NEAR(causal_parts.loss, causal.loss, 1e-5 * causal.loss);
    EXPECT_LT(relative_distance(causal_parts.gradient, causal.gradient), 1e-5);
    // Dropout is there at all.
    EXPECT_GT(std::fabs(run_pass<CausalLanguageModel>(config, *device, {7}).loss - causal.loss),
              1e-3);
  }
}

TEST(Transformer, SameBitsOnAnyNumberOfThreads) {
  const auto one = make_cpu_device(1);
  const auto three = make_cpu_device(3);
  const TransformerConfig config = with_dropout(other_config());
  EXPECT_EQ(run_pass<MaskedLanguageModel>(config, *one, {1, 2, 5, 7}).gradient,
            run_pass<MaskedLanguageModel>(config, *three, {1, 2, 5, 7}).gradient);
}

/// The derivative of the loss along a direction, by the model's gradients and by differences.
template <class Model>
void compare_with_differences(const TransformerConfig& config, Device& device) {
  Initializer init(device, 3, DType::f64);
  const Model model(init, config);
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  const auto host = make_cpu_device(1);
  const TokenBatch batch = to_device(labelled_batch(*host), device);
  const auto loss = [&] {
    auto context = ForwardContext::training(5, 17);
    return model.loss(batch, context);
  };
  autograd::backward(loss(), parameters.parameters(), gradients.views);
  const std::vector<double> start = parameters.values().to_vector<double>();
  const std::vector<double> gradient = gradients.flat.to_vector<double>();
  // All parameters of one name move at once, so that none is drowned by the others.
  for (const FlatParameters::Slot& slot : parameters.slots()) {
    double expected = 0;
    std::vector<double> direction(start.size(), 0.0);
    for (auto i = static_cast<std::size_t>(slot.begin); i < static_cast<std::size_t>(slot.end);
         ++i) {
      direction[i] = 2 * random_uniform({8, 1}, i) - 1;
      expected += direction[i] * gradient[i];
    }
    const autograd::NoGrad no_grad;
    const auto loss_at = [&](double step) {
      std::vector<double> moved = start;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
      parameters.values().copy_from(Tensor::from(moved, {std::ssize(moved)}, device));
      return loss().item();
    };
    constexpr double kStep = 1e-5;
    const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    EXPECT_NEAR(slope, expected, 1e-6 * (1 + std::fabs(expected))) << slot.name;
  }
}

TEST(Transformer, GradientsMatchDifferences) {
  const auto device = make_cpu_device(2);
  for (const TransformerConfig& config : {small_config(), other_config()}) {
    TransformerConfig typed = with_dropout(config);
    typed.token_types = 1;
    compare_with_differences<MaskedLanguageModel>(typed, *device);
    compare_with_differences<CausalLanguageModel>(with_dropout(config), *device);
  }
}

/// On the first GPU, or the emulated one.
class TransformerOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
    gpu_ = make_cuda_device(0, 1);
  }
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Device> gpu_;
};

TEST_F(TransformerOnGpu, LearnsWhatTheCpuDoes) {
  for (const TransformerConfig& config : {small_config(), other_config()}) {
    const Pass masked = run_pass<MaskedLanguageModel>(with_dropout(config), *cpu_, {7});
    const Pass masked_there = run_pass<MaskedLanguageModel>(with_dropout(config), *gpu_, {7});
    EXPECT_NEAR(masked_there.loss, masked.loss, 1e-5 * masked.loss);
    EXPECT_LT(relative_distance(masked_there.gradient, masked.gradient), 1e-5);
    const Pass causal = run_pass<CausalLanguageModel>(with_dropout(config), *cpu_, {7});
    const Pass causal_there = run_pass<CausalLanguageModel>(with_dropout(config), *gpu_, {7});
    EXPECT_NEAR(causal_there.loss, causal.loss, 1e-5 * causal.loss);
    EXPECT_LT(relative_distance(causal_there.gradient, causal.gradient), 1e-5);
  }
}

TEST_F(TransformerOnGpu, HalvesStayNearF32) {
  for (const TransformerConfig& config : {small_config(), other_config()}) {
    const Pass exact = run_pass<MaskedLanguageModel>(with_dropout(config), *gpu_, {7});
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const Pass near = run_pass<MaskedLanguageModel>(with_dropout(config), *gpu_, {7}, dtype);
      EXPECT_NEAR(near.loss, exact.loss, 0.02 * exact.loss);
      const double distance = relative_distance(near.gradient, exact.gradient);
      EXPECT_LT(distance, dtype == DType::bf16 ? 0.1 : 0.02);
      EXPECT_GT(distance, 1e-5);
    }
  }
}

}  // namespace
}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/optimizer.h"
#include "kernels/random.h"
#include "support/devices.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class StepDecisionTest : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor number(double value) { return Tensor::from(std::vector<double>{value}, {1}, *device_); }
  Tensor floats(const std::vector<float>& values) {
    return Tensor::from(values, {std::ssize(values)}, *device_);
  }

  void set(const StepDecision& decision) {
    const auto numbers = std::bit_cast<std::array<double, kDecisionSize>>(decision);
    decision_.copy_from(Tensor::from(std::vector<double>(numbers.begin(), numbers.end()),
                                     {kDecisionSize}, *device_));
  }
  StepDecision get() {
    std::array<double, kDecisionSize> numbers{};
    std::ranges::copy(decision_.to_vector<double>(), numbers.begin());
    return std::bit_cast<StepDecision>(numbers);
  }
  StepDecision begin(const StepRule& rule, double squared_norm, double lr = 0.1) {
    StepDecision before = get();
    before.squared_norm = squared_norm;
    set(before);
    begin_step(stream_, rule, number(lr), decision_);
    return get();
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 1);
  const Stream& stream_ = device_->stream();
  Tensor decision_ = Tensor::zeros({kDecisionSize}, DType::f64, *device_);
};

TEST_P(StepDecisionTest, ClipsAndCorrectsTheBias) {
  const StepRule rule{.clip_norm = 2, .largest_square = 1e38, .beta1 = 0.9, .beta2 = 0.99};
  for (int t = 1; t <= 3; ++t) {
    const StepDecision decision = begin(rule, 25, 0.3);
    EXPECT_EQ(decision.usable, 1);
    EXPECT_EQ(decision.steps, t);
    EXPECT_EQ(decision.lr, 0.3);
    EXPECT_DOUBLE_EQ(decision.gradient_scale, 0.4);
    EXPECT_NEAR(decision.first_rate, 0.3 / (1 - std::pow(0.9, t)), 1e-12);
    EXPECT_NEAR(decision.second_correction, 1 / std::sqrt(1 - std::pow(0.99, t)), 1e-12);
  }
  EXPECT_EQ(begin(rule, 3.9).gradient_scale, 1);
  EXPECT_EQ(begin({.largest_square = 1e38}, 25).gradient_scale, 1);
}

TEST_P(StepDecisionTest, CountsWhatItSkips) {
  const StepRule rule{.clip_norm = 1, .largest_square = 1e38};
  EXPECT_EQ(begin(rule, 1).skipped, 0);
  for (const double bad : {kInfinity, std::nan("")}) {
    const StepDecision decision = begin(rule, bad);
    EXPECT_EQ(decision.usable, 0);
    EXPECT_EQ(decision.steps, 1);
  }
  EXPECT_EQ(get().skipped, 2);
  EXPECT_EQ(get().skipped_in_a_row, 2);
  EXPECT_EQ(begin(rule, 1e40).usable, 1);  // clipping brings it back
  EXPECT_EQ(get().skipped_in_a_row, 0);
  EXPECT_EQ(begin({.largest_square = 1e38}, 1e40).usable, 0);
  EXPECT_EQ(get().skipped, 3);
}

TEST_P(StepDecisionTest, LossScaleHalvesOnOverflowAndDoublesAfterGoodSteps) {
  const StepRule rule{.clip_norm = 2, .largest_square = 1e38, .loss_scale_interval = 3};
  StepDecision start{};
  start.loss_scale = 4;
  set(start);
  // The gradient is four times as long as it would be: 5, which is clipped to 2.
  EXPECT_EQ(begin(rule, 400).squared_norm, 25);
  EXPECT_DOUBLE_EQ(get().gradient_scale, 0.4 / 4);
  begin(rule, 400);
  EXPECT_EQ(get().loss_scale, 4);
  begin(rule, 400);
  EXPECT_EQ(get().loss_scale, 8);
  EXPECT_EQ(begin(rule, 400).squared_norm, 400.0 / 64);
  for (const double bad : {kInfinity, std::nan("")}) {
    const double before = get().loss_scale;
    const StepDecision decision = begin(rule, bad);
    EXPECT_EQ(decision.usable, 0);
    EXPECT_EQ(decision.loss_scale, before / 2);
    EXPECT_EQ(decision.good_steps, 0);
    EXPECT_EQ(decision.skipped_in_a_row, 0);  // a smaller scale may help
  }
  begin(rule, kInfinity);
  EXPECT_EQ(get().loss_scale, 1);
  EXPECT_EQ(begin(rule, kInfinity).skipped_in_a_row, 1);
  EXPECT_EQ(get().loss_scale, 1);
  EXPECT_EQ(get().skipped, 4);
  EXPECT_EQ(begin(rule, 1).steps, 5);
}

TEST_P(StepDecisionTest, LossScaleStaysWithinBounds) {
  const StepRule rule{.largest_square = 1e38, .loss_scale_interval = 1};
  for (int i = 0; i < 40; ++i) begin(rule, 1);
  EXPECT_EQ(get().loss_scale, 0x1p24);
  begin({.largest_square = 1e38}, kInfinity);  // a rule without a scale leaves it alone
  EXPECT_EQ(get().loss_scale, 0x1p24);
}

TEST_P(StepDecisionTest, ABackwardPassBeginsWithTheLossScale) {
  const Tensor seed = floats({0});
  loss_seed(stream_, floats({0.25}), decision_, seed);
  EXPECT_EQ(seed.to_vector<float>()[0], 0.25f);  // of a decision that has none
  StepDecision start{};
  start.loss_scale = 1024;
  set(start);
  loss_seed(stream_, floats({0.25}), decision_, seed);
  EXPECT_EQ(seed.to_vector<float>()[0], 256);
}

TEST_P(StepDecisionTest, MovesParametersAsGivenNumbersDo) {
  std::vector<float> gradients(300);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = std::sin(static_cast<float>(i));
  }
  const std::vector<DecayRange> decay = {{0, 100, 0.1}, {130, 300, 0.3}};
  const Tensor g = floats(gradients);
  const Tensor zeros = Tensor::zeros({300}, DType::f32, *device_);
  const auto adam_once = [&](const AdamStep& step) {
    const Tensor p = g.clone();
    const Tensor m = zeros.clone();
    const Tensor v = zeros.clone();
    adam(stream_, step, decay, g, p, m, v);
    return p.to_vector<float>();
  };
  const auto sgd_once = [&](const SgdStep& step) {
    const Tensor p = g.clone();
    const Tensor b = zeros.clone();
    sgd(stream_, step, decay, g, p, b);
    return p.to_vector<float>();
  };
  squared_norm_into(stream_, g, decision_.slice(0, 0, 1));
  const double norm = std::sqrt(squared_norm(stream_, g));
  begin_step(stream_, {.clip_norm = 2, .largest_square = 1e38, .beta1 = 0.9, .beta2 = 0.999},
             number(0.05), decision_);
  for (const bool decoupled : {true, false}) {
    EXPECT_EQ(adam_once({.decoupled_decay = decoupled, .decision = decision_}),
              adam_once({.lr = 0.05, .gradient_scale = 2 / norm, .decoupled_decay = decoupled}));
  }
  EXPECT_EQ(sgd_once({.momentum = 0.9, .decision = decision_}),
            sgd_once({.lr = 0.05, .momentum = 0.9, .gradient_scale = 2 / norm}));
  begin({.largest_square = 1e38}, kInfinity);
  EXPECT_EQ(adam_once({.decision = decision_}), gradients);
  EXPECT_EQ(sgd_once({.decision = decision_}), gradients);
}

TEST_P(StepDecisionTest, AddsTheLossesOfItsParts) {
  add_loss(stream_, floats({3}), floats({0.5}), true, decision_);
  EXPECT_EQ(get().loss, 1.5);
  add_loss(stream_, floats({4}), floats({0.25}), false, decision_);
  EXPECT_EQ(get().loss, 2.5);
  add_loss(stream_, number(8), number(0.25), true, decision_);
  EXPECT_EQ(get().loss, 2);
  EXPECT_EQ(get().steps, 0);
}

TEST_P(StepDecisionTest, OtherNumbersMayLieOnTheDevice) {
  const Tensor from = floats({1, 2, 3});
  const Tensor given = floats({5, 6, 9});
  const Tensor read = given.clone();
  lerp(stream_, from, 0.3, given);
  lerp_by(stream_, from, number(0.3), read);
  EXPECT_EQ(given.to_vector<float>(), read.to_vector<float>());

  const Tensor x = floats(std::vector<float>(500, 1.0f));
  const Tensor key = Tensor::from(std::vector<std::int64_t>{7, -3}, {2}, *device_);
  const Tensor one = floats(std::vector<float>(500));
  const Tensor other = floats(std::vector<float>(500));
  dropout(stream_, RngKey{7, static_cast<std::uint64_t>(-3)}, 5, 0.4, x, one);
  dropout(stream_, key.view(), 5, 0.4, x, other);
  EXPECT_EQ(one.to_vector<float>(), other.to_vector<float>());
}

TEST_P(StepDecisionTest, RefusesWhatIsNone) {
  EXPECT_THROW(begin_step(stream_, {}, number(1), number(1)), ShapeError);
  EXPECT_THROW(begin_step(stream_, {}, decision_, decision_), ShapeError);
  const Tensor x = floats({1});
  EXPECT_THROW(dropout(stream_, number(1).view(), 0, 0.5, x, x), ShapeError);
}

INSTANTIATE_TEST_SUITE_P(Devices, StepDecisionTest, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace moiety::kernels

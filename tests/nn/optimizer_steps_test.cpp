// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "nn/optimizer.h"
#include "nn/toy_module.h"

namespace moiety::nn {
namespace {

constexpr int kSteps = 50;
using Numbers = std::vector<double>;

/// The definitions of PyTorch's documentation for one parameter, in f64, one element at a time.
class Reference {
 public:
  Reference(const OptimizerConfig& config, bool decays, Numbers values)
      : config_(config),
        decay_(decays ? config.weight_decay : 0),
        values_(std::move(values)),
        first_(values_.size()),
        second_(values_.size()) {}

  void step(const Numbers& gradient, double lr) {
    ++steps_;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      config_.kind == OptimizerKind::sgd ? sgd(i, gradient[i], lr) : adam(i, gradient[i], lr);
    }
  }

  const Numbers& values() const { return values_; }

 private:
  void sgd(std::size_t i, double g, double lr) {
    g += decay_ * values_[i];
    first_[i] = steps_ == 1 ? g : config_.momentum * first_[i] + g;
    values_[i] -= lr * (config_.nesterov ? g + config_.momentum * first_[i] : first_[i]);
  }

  void adam(std::size_t i, double g, double lr) {
    if (config_.kind == OptimizerKind::adamw) {
      values_[i] -= lr * decay_ * values_[i];
    } else {
      g += decay_ * values_[i];
    }
    first_[i] = config_.beta1 * first_[i] + (1 - config_.beta1) * g;
    second_[i] = config_.beta2 * second_[i] + (1 - config_.beta2) * g * g;
    const double m = first_[i] / (1 - std::pow(config_.beta1, steps_));
    const double v = second_[i] / (1 - std::pow(config_.beta2, steps_));
    values_[i] -= lr * m / (std::sqrt(v) + config_.eps);
  }

  OptimizerConfig config_;
  double decay_;
  Numbers values_;
  Numbers first_;
  Numbers second_;
  int steps_ = 0;
};

double norm_of(const FlatBuffer& gradients) {
  double sum = 0;
  for (const Tensor& view : gradients.views) {
    for (const double g : numbers_of(view)) sum += g * g;
  }
  return std::sqrt(sum);
}

struct OptimizerCase {
  const char* name;
  OptimizerConfig config;
};

class OptimizerSteps : public ::testing::TestWithParam<std::tuple<OptimizerCase, DType>> {
 protected:
  const OptimizerConfig& config() const { return std::get<0>(GetParam()).config; }
  DType dtype() const { return std::get<1>(GetParam()); }
};

TEST_P(OptimizerSteps, FollowTheDefinition) {
  const auto device = make_cpu_device(2);
  const ToyModule module(*device, dtype());
  const FlatParameters parameters(module);
  std::vector<Reference> references;
  for (const Variable& p : parameters.parameters()) {
    references.emplace_back(config(), p.ndim() >= 2, numbers_of(p.data()));
  }
  Optimizer optimizer(parameters, config());
  const FlatBuffer gradients = parameters.make_buffer();
  for (int step = 0; step < kSteps; ++step) {
    const double lr = 0.01 * (1 + step % 5);
    fill_gradients(gradients, step);
    const double norm = norm_of(gradients);
    const StepReport report = optimizer.step(gradients, lr);
    EXPECT_NEAR(report.gradient_norm, norm, 1e-6 * norm);
    EXPECT_FALSE(report.skipped);
    const double clip = config().clip_norm;
    const double scale = clip > 0 && norm > clip ? clip / norm : 1;
    for (std::size_t i = 0; i < references.size(); ++i) {
      Numbers gradient = numbers_of(gradients.views[i]);
      for (double& g : gradient) g *= scale;
      references[i].step(gradient, lr);
    }
  }
  EXPECT_EQ(optimizer.steps(), kSteps);
  const double tolerance = dtype() == DType::f64 ? 1e-12 : 2e-5;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Numbers values = numbers_of(parameters.parameters()[i].data());
    for (std::size_t e = 0; e < values.size(); ++e) {
      EXPECT_NEAR(values[e], references[i].values()[e], tolerance)
          << parameters.slots()[i].name << " element " << e;
    }
  }
}

TEST_P(OptimizerSteps, LeaveThePaddingAtZero) {
  const auto device = make_cpu_device(1);
  const ToyModule module(*device, dtype());
  const FlatParameters parameters(module);
  Optimizer optimizer(parameters, config());
  const FlatBuffer gradients = parameters.make_buffer();
  for (int step = 0; step < 3; ++step) {
    fill_gradients(gradients, step);
    optimizer.step(gradients, 0.1);
  }
  const Numbers values = numbers_of(parameters.values());
  const auto& slots = parameters.slots();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::int64_t end = i + 1 < slots.size() ? slots[i + 1].begin : parameters.size();
    for (std::int64_t e = slots[i].end; e < end; ++e) {
      EXPECT_EQ(values[static_cast<std::size_t>(e)], 0) << "element " << e;
    }
  }
}

TEST_P(OptimizerSteps, GoOnFromACheckpointBitForBit) {
  const auto device = make_cpu_device(1);
  const ToyModule whole_module(*device, dtype());
  const FlatParameters whole_parameters(whole_module);
  Optimizer whole(whole_parameters, config());
  const FlatBuffer gradients = whole_parameters.make_buffer();
  Checkpoint checkpoint;
  for (int step = 0; step < 10; ++step) {
    fill_gradients(gradients, step);
    whole.step(gradients, 0.05);
    if (step != 4) continue;
    save_module(checkpoint, whole_module);
    whole.save(checkpoint);
    for (auto& [name, tensor] : checkpoint.tensors) tensor = tensor.clone();
  }
  const ToyModule module(*device, dtype(), /*stream=*/77);
  const FlatParameters parameters(module);
  Optimizer optimizer(parameters, config());
  restore_module(checkpoint, module);
  optimizer.restore(checkpoint);
  EXPECT_EQ(optimizer.steps(), 5);
  for (int step = 5; step < 10; ++step) {
    fill_gradients(gradients, step);
    optimizer.step(gradients, 0.05);
  }
  EXPECT_EQ(numbers_of(parameters.values()), numbers_of(whole_parameters.values()));
}

using enum OptimizerKind;
const OptimizerCase kCases[] = {
    {"sgd", {.kind = sgd, .momentum = 0}},
    {"sgd_decay", {.kind = sgd, .momentum = 0, .weight_decay = 0.1, .clip_norm = 2}},
    {"sgd_momentum", {.kind = sgd, .momentum = 0.9, .weight_decay = 0.1, .clip_norm = 2}},
    {"sgd_nesterov", {.kind = sgd, .momentum = 0.8, .nesterov = true, .weight_decay = 0.1}},
    {"adam", {.kind = adam}},
    {"adam_decay", {.kind = adam, .beta1 = 0.8, .weight_decay = 0.1, .clip_norm = 2}},
    {"adamw", {.kind = adamw, .weight_decay = 0.1}},
    {"adamw_clip", {.kind = adamw, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 1, .clip_norm = 2}}};

INSTANTIATE_TEST_SUITE_P(All, OptimizerSteps,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values(DType::f32, DType::f64)),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param).name) + "_" +
                                  name_of(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace moiety::nn

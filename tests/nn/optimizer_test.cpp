// SPDX-License-Identifier: Apache-2.0
#include "nn/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nn/toy_module.h"
#include "support/error_text.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

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

Numbers numbers_of(const Tensor& tensor) {
  return visit_float(tensor.dtype(), [&]<class T>() {
    const std::vector<T> values = tensor.to_vector<T>();
    return Numbers(values.begin(), values.end());
  });
}

void fill_gradients(const FlatBuffer& gradients, int step) {
  const double size = step % 7 == 3 ? 20 : 0.3;  // now and then one that is clipped
  for (std::size_t i = 0; i < gradients.views.size(); ++i) {
    const Tensor& view = gradients.views[i];
    const auto stream = static_cast<std::uint64_t>(100 * step) + i;
    const Tensor random = random_tensor(view.shape(), view.dtype(), stream, view.device());
    visit_float(view.dtype(), [&]<class T>() {
      for (std::int64_t e = 0; e < view.numel(); ++e) {
        view.data<T>()[e] = static_cast<T>(size) * random.data<T>()[e];
      }
    });
  }
}

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

class OptimizerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  ToyModule module_{*device_};
  FlatParameters parameters_{module_};
};

TEST_F(OptimizerTest, ChoosesWhatDecays) {
  const auto decaying = [&](const OptimizerConfig& config) {
    std::string out;
    const Optimizer optimizer(parameters_, config);
    for (std::size_t i = 0; i < parameters_.slots().size(); ++i) {
      if (optimizer.decays(i)) out += parameters_.slots()[i].name + " ";
    }
    return out;
  };
  EXPECT_EQ(decaying({}), "table weight gate ");
  EXPECT_EQ(decaying({.decay_vectors = true}), "table bias weight gate ");
  EXPECT_EQ(decaying({.no_decay = {"tab", "gate"}}), "weight ");
  EXPECT_EQ(decaying({.decay_vectors = true, .no_decay = {"bias"}}), "table weight gate ");
}

TEST_F(OptimizerTest, SkipsGradientsThatAreNotFinite) {
  Optimizer optimizer(parameters_, {.max_skipped = 3});
  const FlatBuffer gradients = parameters_.make_buffer();
  fill_gradients(gradients, 0);
  optimizer.step(gradients, 0.1);
  const Numbers before = numbers_of(parameters_.values());
  Checkpoint shared;  // saved tensors are the optimizer's own until they are written
  optimizer.save(shared);
  const Tensor& moment = shared.tensors.at("optimizer.second_moment.weight");
  const Numbers moment_before = numbers_of(moment);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), 3e30f}) {
    fill_gradients(gradients, 1);
    gradients.views[2].data<float>()[3] = bad;
    EXPECT_TRUE(optimizer.step(gradients, 0.1).skipped) << bad;
    EXPECT_EQ(numbers_of(parameters_.values()), before);
    EXPECT_EQ(numbers_of(moment), moment_before);
  }
  EXPECT_EQ(optimizer.steps(), 1);
  EXPECT_EQ(optimizer.skipped(), 3);
  fill_gradients(gradients, 1);
  EXPECT_FALSE(optimizer.step(gradients, 0.1).skipped);
  EXPECT_NE(numbers_of(parameters_.values()), before);
}

TEST_F(OptimizerTest, GivesUpAfterTooManySkippedSteps) {
  Optimizer optimizer(parameters_, {.max_skipped = 2});
  const FlatBuffer gradients = parameters_.make_buffer();
  gradients.views[0].data<float>()[0] = std::nanf("");
  optimizer.step(gradients, 0.1);
  optimizer.step(gradients, 0.1);
  EXPECT_TRUE(says(error_text([&] { optimizer.step(gradients, 0.1); }),
                   {"not finite in 3 steps in a row", "nan", "lower the learning rate"}));
  EXPECT_EQ(optimizer.skipped(), 3);
  EXPECT_EQ(optimizer.steps(), 0);
}

TEST_F(OptimizerTest, ClippingBringsHugeGradientsBack) {
  Optimizer optimizer(parameters_, {.clip_norm = 1});
  const FlatBuffer gradients = parameters_.make_buffer();
  gradients.views[2].data<float>()[3] = 3e30f;
  const StepReport report = optimizer.step(gradients, 0.1);
  EXPECT_FALSE(report.skipped);
  EXPECT_NEAR(report.gradient_norm, 3e30, 1e24);
  for (const double v : numbers_of(parameters_.values())) EXPECT_TRUE(std::isfinite(v));
}

TEST_F(OptimizerTest, RefusesALearningRateThatIsNoRate) {
  Optimizer optimizer(parameters_, {});
  const FlatBuffer gradients = parameters_.make_buffer();
  EXPECT_TRUE(says(error_text([&] { optimizer.step(gradients, std::nan("")); }), {"is nan"}));
  EXPECT_TRUE(says(error_text([&] { optimizer.step(gradients, -1); }), {"is -1"}));
}

TEST_F(OptimizerTest, RefusesGradientsOfAnotherLayout) {
  Optimizer optimizer(parameters_, {});
  FlatBuffer gradients = parameters_.make_buffer();
  gradients.flat = gradients.flat.slice(0, 0, 16);
  EXPECT_THROW(optimizer.step(gradients, 0.1), ShapeError);
}

TEST_F(OptimizerTest, RestoreNamesAnotherOptimizer) {
  Checkpoint checkpoint;
  Optimizer(parameters_, {.kind = adam}).save(checkpoint);
  Optimizer other(parameters_, {.kind = adamw});
  EXPECT_TRUE(says(error_text<IoError>([&] { other.restore(checkpoint); }),
                   {"written with adam, but this optimizer is adamw"}));
  Checkpoint without_moments;
  Optimizer(parameters_, {.kind = sgd, .momentum = 0}).save(without_moments);
  Optimizer with_moments(parameters_, {.kind = sgd, .momentum = 0.9});
  EXPECT_TRUE(says(error_text<IoError>([&] { with_moments.restore(without_moments); }),
                   {"\"optimizer.velocity.table\" is missing"}));
}

TEST_F(OptimizerTest, NamesTheSettingThatIsOutOfRange) {
  const auto text = [&](const OptimizerConfig& config) {
    return error_text<UserError>([&] { Optimizer(parameters_, config); });
  };
  EXPECT_TRUE(says(text({.kind = sgd, .momentum = 1}), {"momentum must be in [0, 1), not 1"}));
  EXPECT_TRUE(says(text({.kind = sgd, .momentum = 0, .nesterov = true}), {"nesterov"}));
  EXPECT_TRUE(says(text({.beta1 = -0.1}), {"beta1"}));
  EXPECT_TRUE(says(text({.beta2 = std::nan("")}), {"beta2"}));
  EXPECT_TRUE(says(text({.eps = 0}), {"eps must be above 0"}));
  EXPECT_TRUE(says(text({.weight_decay = -1}), {"weight_decay"}));
  EXPECT_TRUE(says(text({.clip_norm = std::nan("")}), {"clip_norm"}));
  EXPECT_TRUE(says(error_text<UserError>([] { optimizer_kind("lamb"); }), {"\"lamb\"", "adamw"}));
}

}  // namespace
}  // namespace moiety::nn

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

using Numbers = std::vector<double>;
using enum OptimizerKind;

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

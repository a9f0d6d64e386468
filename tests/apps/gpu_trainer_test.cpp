// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apps/trainer.h"
#include "support/toy_training.h"

namespace moiety::apps {
namespace {

using testing::make_toy_dataset;
using testing::TemporaryFolder;
using testing::toy_recipe;

/// On the first GPU, or the emulated one; without either there is nothing to instantiate.
class GpuTrainer : public ::testing::TestWithParam<std::string> {
 protected:
  GpuTrainer() {
    recipe_.train.ema = 0.9;
    recipe_.model.norm = GetParam();
  }

  TemporaryFolder folder_;
  data::Dataset dataset_{make_toy_dataset(folder_)};
  Recipe recipe_ = toy_recipe(dataset_.path());
  std::unique_ptr<Device> gpu_ = make_cuda_device(0, 1);
};

std::vector<float> weights(const Trainer& trainer) {
  std::vector<float> out;
  for (const Variable& p : trainer.model().parameters()) {
    const auto values = p.data().to_vector<float>();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

TEST_P(GpuTrainer, FollowsTheCpu) {
  const auto cpu = make_cpu_device(1);
  Trainer there(recipe_, dataset_, *gpu_);
  Trainer here(recipe_, dataset_, *cpu);
  data::Loader there_loader = there.make_loader();
  data::Loader here_loader = here.make_loader();
  for (int i = 0; i < 30; ++i) {
    there.step(there_loader);
    here.step(here_loader);
  }
  there.settle();
  EXPECT_EQ(there.position().step, 30);
  EXPECT_EQ(there.position().loss_steps, 30);
  EXPECT_EQ(there.position().molecules, here.position().molecules);
  EXPECT_NEAR(there.position().loss_sum, here.position().loss_sum, 1e-4 * here.position().loss_sum);
  EXPECT_NEAR(there.validate().loss, here.validate().loss, 1e-3 * here.validate().loss);
}

TEST_P(GpuTrainer, GoesOnFromACheckpointBitForBit) {
  const auto path = folder_ / "at_17.ckpt";
  Trainer whole(recipe_, dataset_, *gpu_);
  data::Loader loader = whole.make_loader();
  for (int i = 0; i < 30; ++i) {
    whole.step(loader);
    if (i == 16) whole.save(path);
  }
  Trainer resumed(recipe_, dataset_, *gpu_);
  resumed.restore(path);
  data::Loader rest = resumed.make_loader();
  for (int i = 17; i < 30; ++i) resumed.step(rest);
  EXPECT_EQ(weights(whole), weights(resumed));
}

TEST_P(GpuTrainer, TakesNothingFromTheSystemAfterTheFirstSteps) {
  Trainer trainer(recipe_, dataset_, *gpu_);
  data::Loader loader = trainer.make_loader();
  for (int i = 0; i < 60; ++i) trainer.step(loader);
  const AllocatorStats before = gpu_->allocator().stats();
  const AllocatorStats staging = gpu_->staging().allocator().stats();
  for (int i = 0; i < 60; ++i) trainer.step(loader);
  EXPECT_EQ(gpu_->allocator().stats().system_calls, before.system_calls);
  EXPECT_EQ(gpu_->staging().allocator().stats().system_calls, staging.system_calls);
}

std::vector<std::string> norms() {
  return cuda_status().count > 0 ? std::vector<std::string>{"none", "layer", "batch"}
                                 : std::vector<std::string>{};
}

INSTANTIATE_TEST_SUITE_P(Norms, GpuTrainer, ::testing::ValuesIn(norms()),
                         [](const auto& each) { return each.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuTrainer);

}  // namespace
}  // namespace moiety::apps

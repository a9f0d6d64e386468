// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apps/trainer.h"
#include "support/error_text.h"
#include "support/toy_sequences.h"

namespace moiety::apps {
namespace {

using testing::error_text;
using testing::make_toy_sequences;
using testing::says;
using testing::TemporaryFolder;
using testing::toy_sequence_recipe;
using testing::ToySequences;

std::vector<float> weights(const Trainer& trainer) {
  std::vector<float> out;
  for (const Variable& p : trainer.model().parameters()) {
    const auto values = p.data().to_vector<float>();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

/// A task that is not regression on graphs.
struct Case {
  std::string name;
  ToySequences data;
  std::string type;
  bool attention = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

const Case kCases[] = {{"masked_language", {.targets = false}, "encoder"},
                       {"causal_language", {.targets = false}, "decoder"},
                       {"regression", {}, "encoder"},
                       {"binary", {.binary = true}, "encoder"},
                       {"binary_graphs", {.binary = true}, "gine"},
                       {"graph_transformer", {}, "gin", true}};

Recipe recipe_of(const Case& c, const std::string& path) {
  Recipe recipe = toy_sequence_recipe(path, c.type);
  if (c.data.targets && c.data.binary) recipe.data.target = {"ring", "long"};
  if (reads_tokens(recipe.model)) {
    recipe.data.augment = "random_smiles";
  } else {
    recipe.model.norm = "layer";
    recipe.model.attention = c.attention;
  }
  return recipe;
}

class TaskTraining : public ::testing::TestWithParam<Case> {
 protected:
  TemporaryFolder folder_;
  data::Dataset dataset_{make_toy_sequences(folder_, GetParam().data)};
  Recipe recipe_ = recipe_of(GetParam(), dataset_.path());
};

TEST_P(TaskTraining, GoesOnFromACheckpointBitForBit) {
  recipe_.train.ema = 0.9;
  recipe_.train.schedule = "plateau";
  recipe_.train.accumulate = 2;
  const auto path = folder_ / "at_4.ckpt";
  const auto device = make_cpu_device(2);
  Trainer whole(recipe_, dataset_, *device);
  data::Loader loader = whole.make_loader();
  for (int i = 0; i < 10; ++i) {
    whole.step(loader);
    if (i == 2) whole.observe(whole.validate());
    if (i == 3) whole.save(path);
  }
  const auto other = make_cpu_device(1);  // on another number of threads
  Trainer resumed(recipe_, dataset_, *other);
  resumed.restore(path);
  data::Loader rest = resumed.make_loader();
  for (int i = 4; i < 10; ++i) resumed.step(rest);
  EXPECT_EQ(weights(whole), weights(resumed));
  EXPECT_EQ(whole.validate().loss, resumed.validate().loss);
}

TEST_P(TaskTraining, LearnsAndRanksValidations) {
  recipe_.model.dropout = 0;
  const auto device = make_cpu_device(2);
  Trainer trainer(recipe_, dataset_, *device);
  data::Loader loader = trainer.make_loader();
  const Validation before = trainer.validate();
  EXPECT_TRUE(trainer.observe(before));
  for (int i = 0; i < 120; ++i) trainer.step(loader);
  const Validation after = trainer.validate();
  EXPECT_LT(after.loss, 0.8 * before.loss);
  EXPECT_TRUE(trainer.observe(after));
  EXPECT_FALSE(trainer.observe(before)) << "the better one stays";
  EXPECT_LT(trainer.take_mean_loss(), before.loss);
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskTraining, ::testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

/// On the first GPU, or the emulated one; without either there is nothing to instantiate.
class TaskTrainingOnGpu : public TaskTraining {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TaskTrainingOnGpu);

TEST_P(TaskTrainingOnGpu, FollowsTheCpu) {
  recipe_.data.augment = "none";
  const auto gpu = make_cuda_device(0, 1);
  const auto cpu = make_cpu_device(1);
  Trainer there(recipe_, dataset_, *gpu);
  Trainer here(recipe_, dataset_, *cpu);
  data::Loader there_loader = there.make_loader();
  data::Loader here_loader = here.make_loader();
  for (int i = 0; i < 8; ++i) {
    there.step(there_loader);
    here.step(here_loader);
  }
  there.settle();
  EXPECT_EQ(there.position().loss_steps, 8);
  EXPECT_NEAR(there.position().loss_sum, here.position().loss_sum, 1e-4 * here.position().loss_sum);
  EXPECT_NEAR(there.validate().loss, here.validate().loss, 1e-3 * here.validate().loss);
}

TEST_P(TaskTrainingOnGpu, GoesOnFromACheckpointBitForBit) {
  const auto gpu = make_cuda_device(0, 1);
  const auto path = folder_ / "at_3.ckpt";
  Trainer whole(recipe_, dataset_, *gpu);
  data::Loader loader = whole.make_loader();
  for (int i = 0; i < 6; ++i) {
    whole.step(loader);
    if (i == 2) whole.save(path);
  }
  Trainer resumed(recipe_, dataset_, *gpu);
  resumed.restore(path);
  data::Loader rest = resumed.make_loader();
  for (int i = 3; i < 6; ++i) resumed.step(rest);
  EXPECT_EQ(weights(whole), weights(resumed));
}

std::vector<Case> cases_on_gpu() {
  return cuda_status().count > 0 ? std::vector<Case>(std::begin(kCases), std::end(kCases))
                                 : std::vector<Case>();
}
INSTANTIATE_TEST_SUITE_P(Tasks, TaskTrainingOnGpu, ::testing::ValuesIn(cases_on_gpu()),
                         [](const auto& each) { return each.param.name; });

class TaskChoice : public ::testing::Test {
 protected:
  std::string refusal(const Recipe& recipe, const ToySequences& what = {}) {
    const data::Dataset dataset(make_toy_sequences(folder_, what));
    Recipe own = recipe;
    own.data.path = dataset.path();
    const auto device = make_cpu_device(1);
    return error_text<UserError>([&] { Trainer(own, dataset, *device); });
  }

  TemporaryFolder folder_;
  Recipe encoder_ = toy_sequence_recipe("", "encoder");
};

TEST_F(TaskChoice, NamesWhatDoesNotGoTogether) {
  EXPECT_TRUE(says(refusal(toy_sequence_recipe("", "decoder")),
                   {"targets, which a decoder does not learn", "train.task = \"language\""}));
  Recipe recipe = encoder_;
  recipe.train.loss = "bce";
  EXPECT_TRUE(says(refusal(recipe), {"train.loss = \"bce\"", "measurements", "auto"}));
  recipe.train.loss = "mae";
  EXPECT_TRUE(says(refusal(recipe, {.binary = true}), {"train.loss = \"mae\"", "0 or 1", "bce"}));
  EXPECT_TRUE(says(refusal(recipe, {.targets = false}), {"train.loss = \"mae\"", "cross_entropy"}));
  recipe = encoder_;
  recipe.train.task = "language";
  recipe.data.target = {"oxygens"};
  EXPECT_TRUE(says(refusal(recipe), {"train.task = \"language\"", "data.target"}));
  recipe.train.task = "targets";
  EXPECT_TRUE(says(refusal(recipe, {.targets = false}), {"has no targets", "'oxygens'"}));
}

TEST_F(TaskChoice, LanguageOfADataSetWithTargets) {
  encoder_.train.task = "language";
  EXPECT_EQ(refusal(encoder_), "nothing was thrown");
}

TEST_F(TaskChoice, LongSequencesAreRefusedCutOrLeftOut) {
  Recipe recipe = encoder_;
  recipe.model.max_length = 12;
  EXPECT_TRUE(says(
      refusal(recipe, {.targets = false}),
      {"sequences.h5", "tokens, and the model takes 12", "model.max_length", "data.too_long"}));
  for (const char* too_long : {"truncate", "skip"}) {
    recipe.data.too_long = too_long;
    EXPECT_EQ(refusal(recipe, {.targets = false}), "nothing was thrown");
  }
}

TEST_F(TaskChoice, AVocabularyMustHoldTheTokenizers) {
  encoder_.model.vocabulary = 4;
  EXPECT_TRUE(says(refusal(encoder_), {"model.vocabulary = 4", "10 tokens"}));
  encoder_.model.vocabulary = 11;
  EXPECT_EQ(refusal(encoder_), "nothing was thrown");
}

}  // namespace
}  // namespace moiety::apps

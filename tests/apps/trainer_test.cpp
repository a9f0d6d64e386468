// SPDX-License-Identifier: Apache-2.0
#include "apps/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "nn/checkpoint.h"
#include "support/error_text.h"
#include "support/toy_training.h"
#include "tensor/caching_allocator.h"

namespace moiety::apps {
namespace {

using testing::error_text;
using testing::make_toy_dataset;
using testing::says;
using testing::TemporaryFolder;
using testing::toy_recipe;

std::vector<float> weights(const Trainer& trainer) {
  std::vector<float> out;
  for (const Variable& p : trainer.model().parameters()) {
    const auto values = p.data().to_vector<float>();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

TEST(Trainer, RefusesAnotherLibrarysAttentionOnACpu) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(1);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.run.attention = "cudnn";
  EXPECT_TRUE(says(error_text<UserError>([&] { const Trainer trainer(recipe, dataset, *device); }),
                   {"run.attention = \"cudnn\" needs a GPU", "--device cuda"}));
}

TEST(Trainer, TakesNothingFromTheSystemAfterTheFirstSteps) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Trainer trainer(toy_recipe(dataset.path()), dataset, *device);
  data::Loader loader = trainer.make_loader();
  for (int i = 0; i < 50; ++i) trainer.step(loader);
  const AllocatorStats before = device->allocator().stats();
  for (int i = 0; i < 500; ++i) trainer.step(loader);
  const AllocatorStats after = device->allocator().stats();
  EXPECT_GT(after.allocations, before.allocations);
  EXPECT_EQ(after.system_calls, before.system_calls);
  EXPECT_EQ(after.bytes_reserved, before.bytes_reserved);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers keep freed memory for a while.
std::size_t resident_kilobytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

TEST(Trainer, DoesNotGrowOverTenThousandSteps) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Trainer trainer(toy_recipe(dataset.path()), dataset, *device);
  data::Loader loader = trainer.make_loader();
  for (int i = 0; i < 3000; ++i) trainer.step(loader);  // until every lane has met its largest part
  const std::size_t before = resident_kilobytes();
  for (int i = 0; i < 10'000; ++i) trainer.step(loader);
  // The system gives huge pages of 2 MiB when it likes: room for two, 600 bytes a step.
  EXPECT_LT(resident_kilobytes(), before + 3 * 2048);
}
#endif

TEST(Trainer, LearnsToCountAtoms) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.model.pool = "sum";
  recipe.model.dropout = 0;
  recipe.model.norm = "none";
  recipe.train.lr = 5e-3;
  Trainer trainer(recipe, dataset, *device);
  data::Loader loader = trainer.make_loader();
  const double before = trainer.validate().scores.value("mae");
  for (int i = 0; i < 600; ++i) trainer.step(loader);
  EXPECT_LT(trainer.validate().scores.value("mae"), 0.1 * before);
}

TEST(Trainer, GoesOnFromACheckpointBitForBit) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto path = folder.path() / "at_17.ckpt";
  Recipe recipe = toy_recipe(dataset.path());
  recipe.train.ema = 0.9;
  recipe.train.schedule = "plateau";
  for (const std::string norm : {"layer", "batch"}) {
    recipe.model.norm = norm;
    const auto device = make_cpu_device(2);
    Trainer whole(recipe, dataset, *device);
    data::Loader loader = whole.make_loader();
    for (int i = 0; i < 40; ++i) {
      whole.step(loader);
      if (i == 10) whole.observe(whole.validate());
      if (i == 16) whole.save(path);
    }
    const auto other = make_cpu_device(1);  // on another number of threads
    Trainer resumed(recipe, dataset, *other);
    resumed.restore(path);
    EXPECT_EQ(resumed.position().step, 17);
    data::Loader rest = resumed.make_loader();
    for (int i = 17; i < 40; ++i) resumed.step(rest);
    EXPECT_EQ(weights(whole), weights(resumed)) << norm;
  }
}

TEST(Trainer, AccumulatedBatchesAreOneLargerBatch) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.data.batch_size = 64;
  recipe.train.optimizer = "sgd";
  Trainer large(recipe, dataset, *device);
  recipe.data.batch_size = 16;
  recipe.train.accumulate = 4;
  Trainer small(recipe, dataset, *device);
  data::Loader large_loader = large.make_loader();
  data::Loader small_loader = small.make_loader();
  for (int i = 0; i < 3; ++i) {
    large.step(large_loader);
    small.step(small_loader);
  }
  const auto a = weights(large);
  const auto b = weights(small);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Trainer, HalvesFollowF32) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.train.loss_scale_interval = 20;
  const auto loss_in = [&](const std::string& precision) {
    recipe.train.precision = precision;
    Trainer trainer(recipe, dataset, *device);
    data::Loader loader = trainer.make_loader();
    for (int i = 0; i < 50; ++i) trainer.step(loader);
    EXPECT_EQ(trainer.last_report().loss_scale > 1, precision == "f16");
    return trainer.take_mean_loss();
  };
  const double exact = loss_in("f32");
  for (const std::string precision : {"bf16", "f16"}) {
    const double loss = loss_in(precision);
    EXPECT_NE(loss, exact) << precision;
    EXPECT_NEAR(loss, exact, 0.05 * exact) << precision;
  }
}

TEST(Trainer, GoesOnInF16BitForBit) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto path = folder.path() / "at_17.ckpt";
  const auto device = make_cpu_device(2);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.train.precision = "f16";
  recipe.train.loss_scale = 256;
  recipe.train.loss_scale_interval = 7;
  Trainer whole(recipe, dataset, *device);
  data::Loader loader = whole.make_loader();
  for (int i = 0; i < 30; ++i) {
    whole.step(loader);
    if (i == 16) whole.save(path);
  }
  const auto other = make_cpu_device(1);
  Trainer resumed(recipe, dataset, *other);
  resumed.restore(path);
  data::Loader rest = resumed.make_loader();
  for (int i = 17; i < 30; ++i) resumed.step(rest);
  EXPECT_EQ(resumed.last_report().loss_scale, whole.last_report().loss_scale);
  EXPECT_EQ(weights(resumed), weights(whole));
}

TEST(Trainer, LayersThatAreComputedAgainHaveTheSameBits) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(2);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.data.batch_size = 200;  // several parts
  const auto trained = [&](bool recompute) {
    recipe.train.recompute = recompute;
    Trainer trainer(recipe, dataset, *device);
    data::Loader loader = trainer.make_loader();
    for (int i = 0; i < 6; ++i) trainer.step(loader);
    return weights(trainer);
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(Trainer, Tf32NeedsAGpu) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(1);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.train.precision = "tf32";
  EXPECT_TRUE(says(error_text<UserError>([&] { Trainer(recipe, dataset, *device); }),
                   {"train.precision = \"tf32\"", "needs a GPU", "\"bf16\""}));
}

TEST(Trainer, GoesOnWithItsOwnDataSetAlone) {
  const TemporaryFolder folder;
  const auto device = make_cpu_device(1);
  const Recipe recipe = toy_recipe(make_toy_dataset(folder));
  const data::Dataset dataset(recipe.data.path);
  Trainer trainer(recipe, dataset, *device);
  trainer.save(folder / "a.ckpt");
  EXPECT_NO_THROW(trainer.restore(folder / "a.ckpt"));
  make_toy_dataset(folder, [](std::int64_t, double atoms) { return 2 * atoms; });
  const data::Dataset changed(recipe.data.path);
  Trainer other(recipe, changed, *device);
  EXPECT_TRUE(says(error_text<UserError>([&] { other.restore(folder / "a.ckpt"); }),
                   {"toy.h5 is not the data set", "a.ckpt"}));
}

TEST(Trainer, RefusesTargetsWithoutValues) {
  const auto refusal_without = [](std::int64_t begin, std::int64_t end) {
    const TemporaryFolder folder;
    const auto device = make_cpu_device(1);
    const data::Dataset dataset(make_toy_dataset(folder, [&](std::int64_t row, double atoms) {
      return row >= begin && row < end ? std::nan("") : atoms;
    }));
    return error_text<UserError>([&] { Trainer(toy_recipe(dataset.path()), dataset, *device); });
  };
  EXPECT_TRUE(says(refusal_without(0, 320), {"'atoms'", "toy.h5", "no value in the train split"}));
  EXPECT_TRUE(says(refusal_without(320, 360), {"'atoms'", "no value in the valid split"}));
  EXPECT_EQ(refusal_without(0, 319), "nothing was thrown");
}

TEST(Trainer, RefusesWhatMemoryCannotHold) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(1);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.model.hidden = 65536;
  recipe.model.layers = 256;
  EXPECT_TRUE(says(error_text<UserError>([&] { Trainer(recipe, dataset, *device); }),
                   {"parameters", "TiB", "cpu has", "model.hidden"}));
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const data::Dataset dataset(make_toy_dataset(folder));
  const auto device = make_cpu_device(1);
  Recipe recipe = toy_recipe(dataset.path());
  recipe.data.target = {"atom"};
  EXPECT_TRUE(says(error_text<UserError>([&] { Trainer(recipe, dataset, *device); }),
                   {"atom", "did you mean", "it has atoms"}));
  recipe = toy_recipe(dataset.path());
  Trainer trainer(recipe, dataset, *device);
  trainer.save(folder.path() / "a.ckpt");
  recipe.model.hidden = 8;
  Trainer narrow(recipe, dataset, *device);
  EXPECT_THROW(narrow.restore(folder.path() / "a.ckpt"), IoError);
}

}  // namespace
}  // namespace moiety::apps

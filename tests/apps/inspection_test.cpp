// SPDX-License-Identifier: Apache-2.0
#include "apps/inspection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/machine.h"
#include "apps/run_directory.h"
#include "data/dataset.h"
#include "nn/checkpoint.h"
#include "support/dataset_files.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "support/token_files.h"
#include "tensor/device.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;

TEST(Inspect, ADataSet) {
  const TemporaryFolder folder;
  const std::string path = (folder / "molecules.h5").string();
  moiety::testing::write_dataset(path, moiety::testing::random_molecules(20, 1));
  const auto found = inspect(path);
  EXPECT_EQ(found["kind"], "data set");
  EXPECT_EQ(found["molecules"], 20);
  EXPECT_EQ(found["splits"]["train"], 16);
  EXPECT_EQ(found["targets"]["gap"]["unit"], "eV");
  const data::Dataset dataset(path);
  int missing = 0;
  for (int m = 0; m < 20; ++m) missing += std::isnan(dataset.targets(m)[0]) ? 1 : 0;
  EXPECT_GT(missing, 0);
  EXPECT_EQ(found["targets"]["gap"]["missing"], missing);
  EXPECT_TRUE(says(format_inspection(found), {"molecules", "20", "test-1", "gap", "eV"}));
}

TEST(Inspect, TokensAndClasses) {
  const TemporaryFolder folder;
  const std::string path = (folder / "tokens.h5").string();
  moiety::testing::write_token_dataset(path, moiety::testing::some_smiles(), true);
  const data::Dataset dataset(path);
  const auto found = inspect(path);
  EXPECT_EQ(found["tokens"], dataset.info().tokens);
  EXPECT_EQ(found["vocabulary"], dataset.info().vocabulary);
  EXPECT_EQ(found["longest_molecule"], dataset.info().longest_tokens);
  EXPECT_EQ(found["tokenizer"], "words of SMILES");
  EXPECT_EQ(found["targets"]["active"]["ones"], 15);
  EXPECT_EQ(found["targets"]["active"]["zeros"], 15);
  std::int64_t molecules = 0;
  for (const auto& [lengths, count] : found["molecules_by_tokens"].items()) {
    molecules += count.get<std::int64_t>();
  }
  EXPECT_EQ(molecules, 30);
  EXPECT_EQ(found["molecules_by_tokens"]["1 to 5"], 5) << found["molecules_by_tokens"];
  EXPECT_TRUE(says(format_inspection(found), {"molecules by tokens", "1 to 5", "atoms"}));
  moiety::testing::write_token_dataset(path, moiety::testing::some_smiles());
  EXPECT_FALSE(inspect(path).contains("atoms"));
}

TEST(Inspect, ACheckpoint) {
  const TemporaryFolder folder;
  const std::string path = (folder / "step_000000001.ckpt").string();
  const auto device = make_cpu_device(1);
  nn::Checkpoint checkpoint;
  checkpoint.tensors["layer.weight"] = Tensor::zeros({3, 4}, DType::f32, *device);
  checkpoint.set_i64("step", 7);
  checkpoint.save(path);
  const auto found = inspect(path);
  EXPECT_EQ(found["kind"], "checkpoint");
  EXPECT_EQ(found["numbers"], 12);
  EXPECT_TRUE(says(format_inspection(found), {"layer.weight", "f32", "step"}));
}

TEST(Inspect, ARun) {
  const TemporaryFolder folder;
  RunDirectory run((folder / "run").string(), RunDirectory::Mode::create);
  run.write_recipe("[data]\npath = \"gap.h5\"\n[train]\nlr = 5e-3\n");
  run.append_metrics({{"step", 10}, {"valid", {{"mae", 0.5}}}});
  run.append_metrics({{"step", 20}, {"valid", {{"mae", 0.7}}}});
  moiety::testing::write_bytes(checkpoint_path(run.files(), 20), "x");
  const auto found = inspect(run.files().root);
  EXPECT_EQ(found["recipe_beyond_defaults"]["train.lr"], "0.005");
  EXPECT_FALSE(found["recipe_beyond_defaults"].contains("train.epochs"));
  EXPECT_EQ(found["validation"]["best"]["step"], 10);
  EXPECT_EQ(found["validation"]["last"]["step"], 20);
  EXPECT_EQ(found["checkpoints_at_steps"], std::vector<int>{20});
}

TEST(Inspect, WhatItCannotReadIsNamed) {
  const TemporaryFolder folder;
  const std::string path = (folder / "notes.txt").string();
  EXPECT_TRUE(says(error_text<UserError>([&] { inspect(path); }), {path, "no such"}));
  moiety::testing::write_bytes(path, "hello");
  EXPECT_TRUE(says(error_text([&] { inspect(path); }), {path}));
}

TEST(Inspect, OtherFilesAreNamedWithTheirCommand) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name) {
    moiety::testing::write_bytes(folder / name, "hello");
    return error_text<UserError>([&] { inspect(folder / name); });
  };
  EXPECT_TRUE(says(refusal("r.toml"), {"r.toml is a recipe", "moiety recipe"}));
  EXPECT_TRUE(says(refusal("m.csv"), {"m.csv is a table", "moiety prepare"}));
}

TEST(Machine, IsDescribed) {
  const Machine machine = describe_machine();
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, std::int64_t{1} << 26);
  EXPECT_EQ(machine.gpus.empty(), !machine.gpu_note.empty());
  EXPECT_EQ(format_bytes(3 << 20), "3.0 MiB");
  EXPECT_EQ(format_bytes(17), "17 bytes");
}

}  // namespace
}  // namespace moiety::apps

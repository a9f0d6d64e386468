// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "apps/huggingface_folder.h"
#include "apps/pyg_folder.h"
#include "apps/trained_model.h"
#include "data/featurize.h"
#include "data/tokenizer_record.h"
#include "data/word_tokenizer.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

namespace moiety::apps {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

const std::vector<std::string> kSmiles = {"CCO", "CC(=O)N", "c1ccccc1", "BrCN", "C"};

std::vector<data::SourceRow> rows() {
  std::vector<data::SourceRow> out;
  for (const std::string& smiles : kSmiles) {
    out.emplace_back().smiles = smiles;
    out.back().line = std::ssize(out);
  }
  return out;
}

ModelSpec with_targets(ModelSpec spec) {
  spec.targets = {"gap", "energy"};
  spec.units = {"eV", ""};
  spec.mean = {3, -40};
  spec.sd = {2, 0.5};
  return spec;
}

ModelSpec graph_spec(nn::ConvKind conv) {
  ModelSpec spec = with_targets({});
  const data::FeatureSchema features = data::ogb_schema();
  spec.featuriser = features.featuriser;
  spec.graph.conv = conv;
  spec.graph.hidden = 12;
  spec.graph.layers = 2;
  spec.graph.head_layers = 3;
  spec.graph.norm = nn::NormKind::batch;
  spec.graph.atom_dims = features.atom_dims;
  spec.graph.bond_dims = features.bond_dims;
  spec.graph.outputs = 2;
  return spec;
}

ModelSpec token_spec(ModelKind kind) {
  data::SmilesVocabulary words;
  for (const std::string& smiles : kSmiles) words.add(smiles);
  const auto tokenizer = words.train({});
  ModelSpec spec = kind == ModelKind::sequence ? with_targets({}) : ModelSpec{};
  spec.kind = kind;
  spec.tokenizer = data::tokenizer_json(*tokenizer);
  nn::TransformerConfig& t = spec.transformer;
  const bool causal = kind == ModelKind::causal_language;
  t.vocabulary = tokenizer->vocabulary().size();
  t.max_length = 20;
  t.token_types = causal ? 0 : 1;
  t.hidden = 16;
  t.layers = 2;
  t.heads = 2;
  t.init_sd = 0.3;
  t.activation = causal ? nn::Activation::gelu_tanh : nn::Activation::gelu;
  return spec;
}

class Export : public ::testing::Test {
 protected:
  /// What `moiety export ARGUMENTS` says where it refuses.
  static std::string refusal(std::vector<std::string> arguments) {
    return error_text<UserError>([&] {
      CLI::App app;
      add_export(app);
      arguments.insert(arguments.begin(), "export");
      std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
      app.parse(arguments);
    });
  }

  /// Writes a new model and compares what it predicts with what is predicted by what is read back.
  void expect_to_come_back(const ModelSpec& spec) {
    const TemporaryFolder folder;
    const auto task = make_task(spec, *device_, 7);
    const bool graph = spec.kind == ModelKind::graph;
    (graph ? write_pyg_folder : write_huggingface_folder)(*task, folder.path());
    const auto back = load_model_of(folder.path(), *device_);
    EXPECT_EQ(back->spec().kind, spec.kind);
    EXPECT_EQ(back->spec().targets, spec.targets);
    EXPECT_EQ(back->spec().target_task, spec.target_task);
    const auto expected = task->predict(rows(), 0);
    const auto got = back->predict(rows(), 0);
    ASSERT_EQ(got.size(), kSmiles.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].problem, "");
      ASSERT_EQ(got[i].values.size(), expected[i].values.size());
      ASSERT_FALSE(got[i].values.empty());
      for (std::size_t t = 0; t < got[i].values.size(); ++t) {
        const double size = std::max(1.0, std::fabs(expected[i].values[t]));
        EXPECT_NEAR(got[i].values[t], expected[i].values[t], 1e-5 * size) << kSmiles[i];
      }
    }
  }

  std::unique_ptr<Device> device_ = make_cpu_device(2);
};

TEST_F(Export, GraphModelsComeBack) {
  for (const auto conv : {nn::ConvKind::gcn, nn::ConvKind::gin, nn::ConvKind::gine}) {
    expect_to_come_back(graph_spec(conv));
  }
  ModelSpec classes = graph_spec(nn::ConvKind::gcn);
  classes.target_task = "binary";
  classes.mean = {0, 0};
  classes.sd = {1, 1};
  expect_to_come_back(classes);
}

TEST_F(Export, TransformersComeBack) {
  for (const ModelKind kind :
       {ModelKind::sequence, ModelKind::masked_language, ModelKind::causal_language}) {
    expect_to_come_back(token_spec(kind));
  }
  ModelSpec classes = token_spec(ModelKind::sequence);
  classes.target_task = "binary";
  classes.mean = {0, 0};
  classes.sd = {1, 1};
  expect_to_come_back(classes);
}

TEST_F(Export, WhatHasNoCounterpartIsRefused) {
  const TemporaryFolder folder;
  const auto refusal_of = [&](auto write, const ModelSpec& spec) {
    const auto task = make_task(spec, *device_);
    return error_text<UserError>([&] { write(*task, folder.path()); });
  };
  EXPECT_TRUE(says(refusal_of(write_huggingface_folder, graph_spec(nn::ConvKind::gcn)), {"pyg"}));
  EXPECT_TRUE(
      says(refusal_of(write_pyg_folder, token_spec(ModelKind::masked_language)), {"huggingface"}));
  ModelSpec rotary = token_spec(ModelKind::causal_language);
  rotary.transformer.positions = nn::PositionKind::rotary;
  EXPECT_TRUE(says(refusal_of(write_huggingface_folder, rotary), {"model.positions"}));

  const auto task = make_task(token_spec(ModelKind::sequence), *device_);
  write_huggingface_folder(*task, folder.path());
  auto config = nlohmann::json::parse(read_bytes(folder / "config.json"));
  config["problem_type"] = "single_label_classification";
  write_bytes(folder / "config.json", config.dump());
  EXPECT_TRUE(says(error_text<UserError>([&] { load_model_of(folder.path(), *device_); }),
                   {"config.json", "problem_type"}));
}

TEST_F(Export, TheCommandReplacesNothingUnasked) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  write_pyg_folder(*make_task(graph_spec(nn::ConvKind::gin), *device_), folder.path());
  const std::string from = folder.path();
  const std::string to = other / "new";
  EXPECT_EQ(refusal({from, "--format", "pyg", "-o", to}), "nothing was thrown");
  EXPECT_EQ(read_bytes(other / "new/model.safetensors"), read_bytes(folder / "model.safetensors"));
  EXPECT_TRUE(says(refusal({from, "--format", "pyg", "-o", to}), {"new", "--overwrite"}));
  EXPECT_EQ(refusal({from, "--format", "pyg", "-o", to, "--overwrite"}), "nothing was thrown");
  EXPECT_TRUE(says(refusal({from, "--format", "huggingface", "-o", other / "x"}), {"pyg"}));
  write_bytes(other / "recipe.toml", "");
  EXPECT_TRUE(says(refusal({from, "--format", "pyg", "-o", other.path()}), {"is a run"}));
}

TEST_F(Export, DamagedConfigsAreRefusedByNameOrWork) {
  const TemporaryFolder folder;
  write_pyg_folder(*make_task(graph_spec(nn::ConvKind::gine), *device_), folder.path());
  const std::string whole = read_bytes(folder / "config.json");
  std::uint64_t next = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(random_below({.seed = 3, .stream = 5}, next++, bound));
  };
  const std::vector<std::string> values = {"-1",      "0",    "2147483647",  "9223372036854775807",
                                           "1e300",   "null", "[]",          "{}",
                                           "\"gin\"", "[-5]", "[1000000000]"};
  int refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string text = whole;
    const std::size_t colon = text.find(':', below(text.size() - 20));
    const std::size_t end = text.find_first_of(",}", colon);
    text.replace(colon + 1, end - colon - 1, values[below(values.size())]);
    write_bytes(folder / "config.json", text);
    try {
      load_pyg_folder(folder.path(), *device_);
    } catch (const Error& error) {
      ++refused;
      EXPECT_GT(std::string(error.what()).size(), 10U);
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(device_->allocator().stats().peak_in_use, 64 << 20);
}

}  // namespace
}  // namespace moiety::apps

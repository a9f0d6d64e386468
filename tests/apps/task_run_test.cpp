// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/commands.h"
#include "apps/pretrained.h"
#include "apps/run_directory.h"
#include "apps/training_run.h"
#include "data/tokenizer_record.h"
#include "nn/huggingface.h"
#include "support/error_text.h"
#include "support/toy_sequences.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using testing::error_text;
using testing::make_toy_sequences;
using testing::read_bytes;
using testing::says;
using testing::TemporaryFolder;
using testing::toy_sequence_recipe;
using testing::ToySequences;
using testing::write_bytes;

/// Whole runs of small transformers.
class TaskRun : public ::testing::Test {
 protected:
  /// What it prints; the run is in `name`.
  std::string train(const std::string& name, Recipe recipe, const ToySequences& what) {
    recipe.data.path = make_toy_sequences(folder_, what);
    recipe.train.epochs = epochs_;
    recipe.run.threads = 1;
    recipe.run.device = "cpu";
    return captured([&] { run_training(recipe, folder_ / name, /*resume=*/false); });
  }

  std::string call(void (*add)(CLI::App&), std::vector<std::string> words) {
    CLI::App app;
    add(app);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    return captured([&] { app.parse(words); });
  }

  template <class F>
  std::string captured(const F& work) {
    ::testing::internal::CaptureStdout();
    try {
      work();
    } catch (...) {
      ::testing::internal::GetCapturedStdout();
      throw;
    }
    return ::testing::internal::GetCapturedStdout();
  }

  nlohmann::json summary(const std::string& name) { return read_summary(RunFiles{folder_ / name}); }

  TemporaryFolder folder_;
  std::int64_t epochs_ = 2;
};

TEST_F(TaskRun, OfALanguageModelNamesTheUnigramPredictor) {
  epochs_ = 20;
  for (const char* type : {"encoder", "decoder"}) {
    const std::string screen = train(type, toy_sequence_recipe("", type), {.targets = false});
    EXPECT_TRUE(says(screen, {"loss", "perplexity", "accuracy", "unigram predictor",
                              "weights chosen by validation loss"}));
    const auto own = summary(type)["metrics"]["valid"];
    const auto unigram = summary(type)["baseline"]["unigram predictor"]["valid"];
    EXPECT_LT(own["loss"], unigram["loss"]) << "of the same tokens";
    EXPECT_EQ(own["tokens"], unigram["tokens"]);
    EXPECT_NEAR(std::log(own["perplexity"].get<double>()), own["loss"], 1e-12);
    EXPECT_GT(unigram["accuracy"], 0.2);
    const std::string page = read_bytes(folder_ / type / "report.html");
    EXPECT_TRUE(says(page, {"Test loss", "Validation perplexity", "Validation accuracy",
                            "unigram predictor, valid"}));
  }
}

TEST_F(TaskRun, KeepsItsTokenizer) {
  train("run", toy_sequence_recipe("", "encoder"), {.targets = false});
  const auto kept = data::load_tokenizer(folder_ / "run" / "tokenizer");
  EXPECT_EQ(data::tokenizer_json(*kept), data::tokenizer_json(testing::toy_tokenizer()));
}

TEST_F(TaskRun, PredictsLikelihoodsFromTheRunAlone) {
  train("run", toy_sequence_recipe("", "decoder"), {.targets = false});
  fs::remove(folder_ / "sequences.h5");
  const std::string longest(60, 'C');
  write_bytes(folder_ / "new.csv", "smiles\nCCO\nC1CC\nCN\n" + longest + "\n");
  const std::string table = folder_ / "out.csv";
  EXPECT_TRUE(says(call(add_predict, {"predict", folder_ / "run", folder_ / "new.csv", "-o", table,
                                      "--device", "cpu"}),
                   {"4 rows: 1 predicted, 3 without a prediction"}));
  const std::string lines = read_bytes(table);
  EXPECT_TRUE(says(lines, {"id,smiles,log_likelihood,tokens,problem\n", "CCO,-", ",4,\n", "C1CC,,,",
                           "CN,,,", "it has 62 tokens, and the model takes at most 40"}));
}

TEST_F(TaskRun, OfClassesIsJudgedByItsRanking) {
  epochs_ = 15;
  for (const char* type : {"gin", "encoder"}) {
    Recipe recipe = toy_sequence_recipe("", type);
    if (type == std::string("gin")) recipe.model.norm = "none";
    const std::string screen = train(type, recipe, {.binary = true});
    EXPECT_TRUE(says(screen, {"ROC-AUC", "class frequencies", "validation ROC-AUC"}));
    const auto scores = summary(type)["metrics"]["test"]["targets"]["ring"];
    EXPECT_GT(scores["roc_auc"], 0.9);
    const auto constant = summary(type)["baseline"]["class frequencies"]["test"];
    EXPECT_EQ(constant["targets"]["ring"]["roc_auc"], 0.5);
    EXPECT_TRUE(says(read_bytes(folder_ / type / "report.html"), {"ring: ROC curve", "chance"}));
    const std::string evaluated =
        call(add_evaluate,
             {"evaluate", folder_ / type, folder_ / "sequences.h5", "--json", "--device", "cpu"});
    EXPECT_EQ(nlohmann::json::parse(evaluated), summary(type)["metrics"]["test"]);
    call(add_predict, {"predict", folder_ / type, folder_ / "sequences.h5", "-o",
                       folder_ / "out.csv", "--device", "cpu"});
    EXPECT_TRUE(says(read_bytes(folder_ / "out.csv"), {"id,smiles,ring,long,problem\nm0,C,0."}));
  }
}

TEST_F(TaskRun, BeginsWithAnotherRunsWeights) {
  train("language", toy_sequence_recipe("", "encoder"), {.targets = false});
  Recipe recipe = default_recipe("encoder");
  recipe.model.init_from = folder_ / "language";
  recipe.train.schedule = "constant";
  recipe.train.lr = 1e-12;
  train("fine", recipe, {});
  const Recipe resolved = read_recipe(folder_ / "fine" / "recipe.toml");
  EXPECT_EQ(resolved.model.hidden, 16) << "of the run that it began with";
  const auto host = make_cpu_device(1);
  const auto before = nn::Checkpoint::load(folder_ / "language/checkpoints/best.ckpt", *host);
  const auto after = nn::Checkpoint::load(folder_ / "fine/checkpoints/best.ckpt", *host);
  const std::string name = "model.encoder.layer.1.inner.up.weight";
  const auto old_values = before.tensors.at(name).to_vector<float>();
  const auto new_values = after.tensors.at(name).to_vector<float>();
  for (std::size_t i = 0; i < old_values.size(); ++i) {
    ASSERT_NEAR(old_values[i], new_values[i], 1e-6) << i;
  }
  EXPECT_FALSE(after.tensors.contains("model.bias")) << "the head is another";

  // It goes on without the other run, and with its own recipe as it was written.
  fs::remove_all(folder_ / "language");
  recipe.data.path = folder_ / "sequences.h5";
  recipe.train.epochs = epochs_;
  recipe.run.device = "cpu";
  recipe.run.threads = 1;
  EXPECT_NO_THROW(captured([&] { run_training(recipe, folder_ / "fine", /*resume=*/true); }));
}

TEST_F(TaskRun, RefusesWeightsThatDoNotFit) {
  train("language", toy_sequence_recipe("", "decoder"), {.targets = false});
  const auto refusal = [&](const Recipe& recipe, const ToySequences& what = {.targets = false}) {
    return error_text<UserError>([&] { train("other", recipe, what); });
  };
  Recipe recipe = default_recipe("encoder");
  recipe.model.init_from = folder_ / "none";
  EXPECT_TRUE(says(refusal(recipe), {"model.init_from", "none", "no such run"}));
  recipe.model.init_from = folder_.path();
  EXPECT_TRUE(says(refusal(recipe), {"neither a run", "config.json"}));
  recipe.model.init_from = folder_ / "language";
  EXPECT_TRUE(says(refusal(recipe), {"is a decoder", "model.type is \"encoder\""}));
  recipe = default_recipe("decoder");
  recipe.model.init_from = folder_ / "language";
  recipe.model.hidden = 32;
  EXPECT_TRUE(says(refusal(recipe), {"model.hidden = 32", "has 16", "leave model.hidden out"}));
}

/// The run's model as a folder of HuggingFace's.
void export_run(const fs::path& run, const fs::path& folder) {
  const auto host = make_cpu_device(1);
  const Pretrained own = open_pretrained(run);
  ModelSpec spec;
  spec.kind = own.kind;
  spec.transformer = own.transformer;
  spec.tokenizer = own.tokenizer;
  const auto task = make_task(spec, *host, 5);
  load_weights(own, *task);
  fs::create_directories(folder);
  nn::export_state_dict(task->model(), task->state_dict_names(0))
      .save(folder / "model.safetensors");
  fs::copy(run / "tokenizer", folder, fs::copy_options::recursive);
  const nlohmann::json config = {{"model_type", "roberta"},
                                 {"vocab_size", spec.transformer.vocabulary},
                                 {"hidden_size", spec.transformer.hidden},
                                 {"num_hidden_layers", spec.transformer.layers},
                                 {"num_attention_heads", spec.transformer.heads},
                                 {"intermediate_size", spec.transformer.inner_width()},
                                 {"max_position_embeddings", spec.transformer.max_length + 1},
                                 {"layer_norm_eps", spec.transformer.norm_eps},
                                 {"pad_token_id", 0}};
  write_bytes(folder / "config.json", config.dump());
}

TEST_F(TaskRun, BeginsWithAHuggingFaceFolder) {
  train("language", toy_sequence_recipe("", "encoder"), {.targets = false});
  export_run(folder_ / "language", folder_ / "theirs");
  Recipe recipe = default_recipe("encoder");
  recipe.model.init_from = folder_ / "theirs";
  recipe.train.schedule = "constant";
  recipe.train.lr = 1e-12;
  train("on", recipe, {.targets = false});
  EXPECT_NEAR(summary("on")["metrics"]["test"]["loss"].get<double>(),
              summary("language")["metrics"]["test"]["loss"].get<double>(), 1e-4)
      << "the head of a language model comes along";
}

}  // namespace
}  // namespace moiety::apps

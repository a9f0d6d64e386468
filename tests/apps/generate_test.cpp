// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/commands.h"
#include "apps/generative_model.h"
#include "apps/huggingface_config.h"
#include "apps/molecule_scores.h"
#include "apps/text_file.h"
#include "autograd/engine.h"
#include "data/word_tokenizer.h"
#include "nn/huggingface.h"
#include "nn/optimizer.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

namespace moiety::apps {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

const std::vector<std::string> kSmiles = {"CCO", "CC(=O)N", "BrCN", "c1ccccc1", "CCCC", "C=CC#N"};

/// A folder with a GPT-2 that has learned a few SMILES by heart.
class Generate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    data::SmilesVocabulary words;
    for (const std::string& smiles : kSmiles) words.add(smiles);
    const auto tokenizer = words.train({});
    tokenizer->save(model());
    const auto& vocabulary = tokenizer->vocabulary();
    HuggingFaceConfig config;
    config.model = HuggingFaceModel::causal_language;
    config.first_token = vocabulary.id(data::TokenRole::begin);
    config.last_token = vocabulary.id(data::TokenRole::end);
    nn::TransformerConfig& t = config.transformer;
    t.vocabulary = vocabulary.size();
    t.max_length = 24;
    t.hidden = 32;
    t.layers = 1;
    t.heads = 2;
    t.activation = nn::Activation::gelu_tanh;
    t.dropout = t.attention_dropout = 0;
    t.init_sd = 0.2;
    const auto device = make_cpu_device(2);
    nn::Initializer init(*device, 3);
    const nn::CausalLanguageModel learned(init, t);
    train(learned, *tokenizer, *device);
    nn::export_state_dict(learned, nn::state_dict_names(learned))
        .save(model() / "model.safetensors");
    write_atomically(model() / "config.json", to_json(config).dump());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::filesystem::path model() { return *folder_ / "gpt"; }

  /// What `moiety generate MODEL -o OUT ARGUMENTS` prints; it must not fail.
  static std::string run(std::vector<std::string> arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    parse(std::move(arguments));
    ::testing::internal::GetCapturedStderr();
    return ::testing::internal::GetCapturedStdout();
  }
  static std::string failure(std::vector<std::string> arguments) {
    return error_text<UserError>([&] { parse(std::move(arguments)); });
  }
  static std::filesystem::path out() { return *folder_ / "out.smi"; }
  static std::vector<std::string> lines() {
    std::vector<std::string> all;
    std::istringstream text(read_bytes(out()));
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }

 private:
  static void train(const nn::CausalLanguageModel& learned, const data::Tokenizer& tokenizer,
                    Device& device) {
    std::vector<std::vector<std::int32_t>> texts;
    std::vector<std::int32_t> labels;
    for (const std::string& smiles : kSmiles) {
      const auto& ids = texts.emplace_back(tokenizer.encode(smiles).ids);
      labels.insert(labels.end(), ids.begin() + 1, ids.end());
      labels.push_back(-1);
    }
    TokenBatch batch = pack_tokens(texts, device);
    score_labelled(batch, labels);
    const nn::FlatParameters parameters(learned);
    nn::Optimizer optimizer(parameters, {});
    for (std::uint64_t step = 0; step < 120; ++step) {
      auto context = nn::ForwardContext::training(5, step);
      const nn::FlatBuffer gradients = parameters.make_buffer();
      autograd::backward(learned.loss(batch, context), parameters.parameters(), gradients.views);
      optimizer.step(gradients, 1e-2);
    }
  }
  static void parse(std::vector<std::string> arguments) {
    CLI::App app;
    add_generate(app);
    const std::vector<std::string> first = {
        "generate", model().string(), "-o", out().string(), "--device", "cpu", "--threads", "2"};
    arguments.insert(arguments.begin(), first.begin(), first.end());
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Generate::folder_;

TEST_F(Generate, WritesWhatTheModelHasLearned) {
  write_bytes(out().parent_path() / "known.smi", "OCC\nNC(C)=O\n!\n");
  const std::string json = out().parent_path() / "figures.json";
  const std::string printed = run({"-n", "200", "--temperature", "0.5", "--seed", "4", "--json",
                                   json, "--trained-on", out().parent_path() / "known.smi"});
  const auto texts = lines();
  ASSERT_EQ(texts.size(), 200U);
  std::int64_t known = 0;
  for (const std::string& text : texts) {
    known += std::find(kSmiles.begin(), kSmiles.end(), text) != kSmiles.end() ? 1 : 0;
  }
  EXPECT_GT(known, 150);
  const auto figures = nlohmann::json::parse(read_bytes(json));
  EXPECT_EQ(figures["texts"], 200);
  EXPECT_GE(figures["valid"], known);
  EXPECT_EQ(figures["validity"], figures["valid"].get<double>() / 200);
  EXPECT_GE(figures["unique"], 4);
  EXPECT_EQ(figures["novel"].get<int>(), figures["unique"].get<int>() - 2);
  EXPECT_GT(figures["tokens"], 200);
  EXPECT_TRUE(says(printed, {"200 texts", "validity", "uniqueness", "novelty", "tokens/s"}));
  // The same texts again, however they are computed.
  run({"-n", "200", "--temperature", "0.5", "--seed", "4", "--batch-size", "1"});
  EXPECT_EQ(lines(), texts);
  run({"-n", "200", "--temperature", "0.5", "--seed", "5"});
  EXPECT_NE(lines(), texts);
}

TEST_F(Generate, GoesOnWithAPrompt) {
  run({"-n", "20", "--prompt", "CC(=O)", "--temperature", "0"});
  EXPECT_EQ(lines(), std::vector<std::string>(20, "CC(=O)N"));
  const std::string printed = run({"-n", "3", "--prompt", "CC", "--max-length", "3"});
  EXPECT_EQ(lines(), std::vector<std::string>(3, "CC"));
  EXPECT_TRUE(says(printed, {"3 are cut off"}));
}

TEST_F(Generate, MistakesAreNamed) {
  EXPECT_TRUE(says(failure({"--prompt", "CXC"}), {"X"}));
  EXPECT_TRUE(says(failure({"--prompt", "C[Fe]"}), {"prompt", "[Fe]"}));
  EXPECT_TRUE(says(failure({"--top-p", "2"}), {"top-p"}));
  EXPECT_TRUE(says(failure({"--seed", "-1"}), {"seed"}));
  EXPECT_TRUE(says(failure({"--max-length", "25"}), {"25", "at most 24"}));
  EXPECT_TRUE(says(failure({"--trained-on", "none.csv"}), {"none.csv"}));
  EXPECT_TRUE(says(failure({"--json", model() / "config.json"}), {"config.json"}));
  const auto device = make_cpu_device(1);
  const auto refusal = [&](const std::filesystem::path& folder) {
    return error_text<UserError>([&] { load_generative_model(folder, *device); });
  };
  EXPECT_TRUE(says(refusal(out().parent_path() / "none"), {"none"}));
  TemporaryFolder other;
  std::filesystem::copy(model() / "config.json", other / "config.json");
  EXPECT_TRUE(says(refusal(other.path()), {"model.safetensors", "save_pretrained"}));
}

TEST_F(Generate, DamagedFoldersAreRefusedByNameOrWork) {
  const TemporaryFolder copy;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(model())) {
    std::filesystem::copy(entry.path(), copy / entry.path().filename());
    files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  const auto device = make_cpu_device(1);
  std::uint64_t next = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(random_below({.seed = 3, .stream = 7}, next++, bound));
  };
  for (int trial = 0; trial < 300; ++trial) {
    const auto& file = files[below(files.size())];
    const std::string whole = read_bytes(model() / file);
    std::string bytes = whole;
    const std::size_t at = below(std::min<std::size_t>(bytes.size(), 3000));
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.insert(at, std::to_string(below(1 << 30)));
        break;
      case 2:
        bytes.erase(at, below(12));
        break;
      default:
        bytes.resize(at);
    }
    write_bytes(copy / file, bytes);
    try {
      const GenerativeModel loaded = load_generative_model(copy.path(), *device);
      nn::GenerationOptions options;
      options.max_length = std::min<std::int64_t>(3, loaded.model->config().max_length);
      const nn::TokenSequence prompt = encode_prompt(loaded, "");
      decode_text(loaded,
                  nn::generate(*loaded.model, std::vector<nn::TokenSequence>{prompt}, options)[0]);
    } catch (const Error& error) {
      EXPECT_GT(std::string(error.what()).size(), 10U);
    }
    write_bytes(copy / file, whole);
  }
  EXPECT_LT(device->allocator().stats().peak_in_use, 64 << 20);
}

TEST(MoleculeScores, CountWhatRdkitReads) {
  ThreadPool pool(2);
  const std::vector<std::string> texts = {"CCO",      "OCC",  "",   "C(",     "CC C",
                                          "c1ccccc1", "C1CC", "CN", "C |$a$|"};
  const MoleculeScores scores = score_molecules(texts, nullptr, pool);
  EXPECT_EQ(scores.texts, 9);
  EXPECT_EQ(scores.valid, 4);
  EXPECT_EQ(scores.unique, 3);
  EXPECT_FALSE(scores.novelty().has_value());
  const TemporaryFolder folder;
  write_bytes(folder / "m.csv", "smiles\nC(O)C\nCN\nx\n");
  const MoleculeSet known = read_molecules(folder / "m.csv", pool, [](double) {});
  EXPECT_EQ(known.size(), 2U);
  EXPECT_EQ(score_molecules(texts, &known, pool).novel, 1);
  EXPECT_EQ(score_molecules({}, &known, pool).validity(), 0);
}

}  // namespace
}  // namespace moiety::apps

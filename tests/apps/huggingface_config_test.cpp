// SPDX-License-Identifier: Apache-2.0
#include "apps/huggingface_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/text_file.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

namespace moiety::apps {
namespace {

using nlohmann::json;
using testing::error_text;
using testing::says;

/// As it comes with ChemBERTa-77M-MLM, without what says nothing of the model.
json chemberta() {
  return {{"architectures", {"RobertaForMaskedLM"}},
          {"attention_probs_dropout_prob", 0.109},
          {"bos_token_id", 0},
          {"classifier_dropout", nullptr},
          {"eos_token_id", 2},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", 0.144},
          {"hidden_size", 384},
          {"initializer_range", 0.02},
          {"intermediate_size", 464},
          {"is_gpu", true},
          {"layer_norm_eps", 1e-12},
          {"max_position_embeddings", 515},
          {"model_type", "roberta"},
          {"num_attention_heads", 12},
          {"num_hidden_layers", 3},
          {"pad_token_id", 1},
          {"position_embedding_type", "absolute"},
          {"type_vocab_size", 1},
          {"use_cache", true},
          {"vocab_size", 600}};
}

json gpt2() {
  return {{"model_type", "gpt2"}, {"vocab_size", 50257}, {"n_positions", 1024}, {"n_embd", 768},
          {"n_layer", 12},        {"n_head", 12},        {"n_inner", nullptr},  {"n_ctx", 1024}};
}

void expect_same(const nn::TransformerConfig& a, const nn::TransformerConfig& b) {
  EXPECT_EQ(a.vocabulary, b.vocabulary);
  EXPECT_EQ(a.max_length, b.max_length);
  EXPECT_EQ(a.token_types, b.token_types);
  EXPECT_EQ(a.hidden, b.hidden);
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.inner_width(), b.inner_width());
  EXPECT_EQ(a.activation, b.activation);
  EXPECT_EQ(a.norm_eps, b.norm_eps);
  EXPECT_EQ(a.dropout, b.dropout);
  EXPECT_EQ(a.attention_dropout, b.attention_dropout);
  EXPECT_EQ(a.init_sd, b.init_sd);
}

TEST(HuggingFaceConfig, ChemBertaIsRead) {
  const testing::TemporaryFolder folder;
  write_atomically(folder / "config.json", chemberta().dump());
  const HuggingFaceConfig config = read_huggingface_config(folder / "config.json");
  EXPECT_EQ(config.model, HuggingFaceModel::masked_language);
  EXPECT_EQ(config.padding, 1);
  EXPECT_EQ(config.first_token, 0);
  EXPECT_EQ(config.last_token, 2);
  expect_same(config.transformer, {.vocabulary = 600,
                                   .max_length = 513,
                                   .token_types = 1,
                                   .hidden = 384,
                                   .layers = 3,
                                   .heads = 12,
                                   .inner = 464,
                                   .norm_eps = 1e-12,
                                   .dropout = 0.144,
                                   .attention_dropout = 0.109});
}

TEST(HuggingFaceConfig, WhatGpt2LeavesOutIsKnown) {
  const HuggingFaceConfig config = parse_huggingface_config(gpt2(), "config.json");
  EXPECT_EQ(config.model, HuggingFaceModel::causal_language);
  EXPECT_FALSE(config.first_token);
  expect_same(config.transformer, {.vocabulary = 50257,
                                   .max_length = 1024,
                                   .hidden = 768,
                                   .layers = 12,
                                   .heads = 12,
                                   .inner = 3072,
                                   .activation = nn::Activation::gelu_tanh});
}

TEST(HuggingFaceConfig, WhatIsWrittenIsReadBack) {
  HuggingFaceConfig sequence = parse_huggingface_config(chemberta(), "config.json");
  sequence.model = HuggingFaceModel::sequence;
  sequence.outputs = 4;
  sequence.targets.clear();
  sequence.regression = true;
  HuggingFaceConfig labels = sequence;
  labels.regression = false;
  labels.labels = true;
  labels.outputs = 2;
  labels.targets = {"toxic", "soluble"};
  for (const HuggingFaceConfig& config :
       {sequence, labels, parse_huggingface_config(chemberta(), "config.json"),
        parse_huggingface_config(gpt2(), "config.json")}) {
    const HuggingFaceConfig back =
        parse_huggingface_config(json::parse(to_json(config).dump()), "config.json");
    EXPECT_EQ(back.model, config.model);
    EXPECT_EQ(back.padding, config.padding);
    EXPECT_EQ(back.outputs, config.outputs);
    EXPECT_EQ(back.regression, config.regression);
    EXPECT_EQ(back.labels, config.labels);
    if (!config.targets.empty()) {
      EXPECT_EQ(back.targets, config.targets);
    }
    EXPECT_EQ(back.first_token, config.first_token);
    EXPECT_EQ(back.last_token, config.last_token);
    expect_same(back.transformer, config.transformer);
  }
}

TEST(HuggingFaceConfig, WhatCannotBeIsNamed) {
  const auto refusal = [](json config, const char* key, const json& value) {
    config[key] = value;
    return error_text<UserError>([&] { parse_huggingface_config(config, "config.json"); });
  };
  EXPECT_TRUE(
      says(refusal(chemberta(), "model_type", "bert"), {"config.json", "\"bert\"", "gpt2"}));
  EXPECT_TRUE(says(refusal(chemberta(), "hidden_size", nullptr), {"hidden_size is missing"}));
  EXPECT_TRUE(says(refusal(chemberta(), "hidden_size", 38.5), {"hidden_size", "38.5"}));
  EXPECT_TRUE(says(refusal(chemberta(), "hidden_act", "gelu_fast"), {"gelu_fast", "gelu_new"}));
  EXPECT_TRUE(says(refusal(chemberta(), "layer_norm_eps", "small"), {"layer_norm_eps"}));
  EXPECT_TRUE(says(refusal(chemberta(), "position_embedding_type", "relative_key"),
                   {"position_embedding_type", "relative_key", "absolute"}));
  EXPECT_TRUE(says(refusal(chemberta(), "classifier_dropout", 0.5), {"classifier_dropout"}));
  EXPECT_TRUE(says(refusal(chemberta(), "pad_token_id", -7), {"pad_token_id", "-7"}));
  EXPECT_TRUE(says(refusal(chemberta(), "max_position_embeddings", 2), {"model.max_length"}));
  EXPECT_TRUE(says(refusal(chemberta(), "num_attention_heads", 7), {"model.heads"}));
  EXPECT_TRUE(says(refusal(chemberta(), "num_labels", 2147483647), {"num_labels", "65536"}));
  EXPECT_TRUE(says(refusal(gpt2(), "scale_attn_by_inverse_layer_idx", true),
                   {"scale_attn_by_inverse_layer_idx"}));
  EXPECT_TRUE(says(refusal(gpt2(), "embd_pdrop", 0.3), {"embd_pdrop"}));
  EXPECT_TRUE(says(error_text<UserError>([] { parse_huggingface_config(json(3), "config.json"); }),
                   {"not a JSON object"}));
  const testing::TemporaryFolder folder;
  write_atomically(folder / "config.json", "{\"model_type\": ");
  EXPECT_TRUE(says(error_text<IoError>([&] { read_huggingface_config(folder / "config.json"); }),
                   {"config.json", "parse error at line 1"}));
  write_atomically(folder / "config.json",
                   "{\"model_type\":" + std::string(200000, '[') + std::string(200000, ']') + "}");
  EXPECT_TRUE(says(error_text<IoError>([&] { read_huggingface_config(folder / "config.json"); }),
                   {"config.json", "64 deep"}));
  std::filesystem::resize_file(folder / "config.json", (16 << 20) + 1);
  EXPECT_TRUE(says(error_text<IoError>([&] { read_huggingface_config(folder / "config.json"); }),
                   {"config.json has 16777217 bytes"}));
}

TEST(HuggingFaceConfig, DamagedOnesAreRefusedByNameOrMakeSense) {
  constexpr int kTrials = 2000;
  const testing::TemporaryFolder folder;
  const auto path = folder / "config.json";
  const std::vector<std::string> values = {"-1",
                                           "0",
                                           "1e400",
                                           "-1e9",
                                           "2147483648",
                                           "9223372036854775807",
                                           "18446744073709551615",
                                           "99999999999999999999",
                                           "1.5",
                                           "null",
                                           "true",
                                           "[]",
                                           "{}",
                                           "[[[]]]",
                                           "\"gelu\"",
                                           "\"\\u0000\"",
                                           "\"" + std::string(5000, 'x') + "\""};
  std::uint64_t next = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(random_below({.seed = 3, .stream = 9}, next++, bound));
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    const json whole = below(2) == 0 ? chemberta() : gpt2();
    std::string text = whole.dump();
    if (below(2) == 0) {
      const std::size_t colon = text.find(':', below(text.size()));
      if (colon != std::string::npos) {
        const std::size_t end = text.find_first_of(",}", colon);
        text.replace(colon + 1, end - colon - 1, values[below(values.size())]);
      }
    } else {
      const std::size_t at = below(text.size());
      text.replace(at, below(6), text.substr(below(text.size()), below(12)));
    }
    testing::write_bytes(path, text);
    try {
      const HuggingFaceConfig config = read_huggingface_config(path);
      EXPECT_GT(config.transformer.max_length, 0);
      EXPECT_GE(config.padding, 0);
    } catch (const UserError& error) {
      EXPECT_TRUE(says(error.what(), {path.string()}));
      EXPECT_LT(std::string(error.what()).size(), 6000U);
    } catch (const IoError& error) {
      EXPECT_TRUE(says(error.what(), {path.string()}));
    }
  }
}

}  // namespace
}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "nn/generation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/grad_mode.h"
#include "nn/transformer_pass.h"
#include "support/devices.h"
#include "support/error_text.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

/// Scores [T, V] of one sequence without a cache.
std::vector<float> plain_scores(const CausalLanguageModel& model, const Numbers& tokens,
                                Device& device) {
  const autograd::NoGrad no_grad;
  ForwardContext context;
  return model.forward(pack_tokens({tokens}, device), context).data().to_vector<float>();
}

class GenerationOn : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static TransformerConfig config() {
    return std::get<1>(GetParam()) == "gpt" ? small_config() : other_config();
  }

  std::unique_ptr<Device> device_ = make_device(std::get<0>(GetParam()), 2);
  Initializer init_{*device_, 3};
  CausalLanguageModel model_{init_, config()};
};

TEST_P(GenerationOn, ACacheGivesTheScoresOfTheWholeSequence) {
  const auto sequences = random_sequences({7, 16, 1, 11});
  // One row goes on with another sequence, and all begin at different times.
  const std::vector<std::vector<std::size_t>> rows = {{0, 2}, {1}, {3}};
  const autograd::NoGrad no_grad;
  const KeyValueCache cache(config(), 3, 16, DType::f32, *device_);
  std::vector<std::vector<float>> got(sequences.size());
  for (int time = 0; time < 20; ++time) {
    Numbers tokens(3);
    Numbers positions(3);
    std::vector<std::size_t> of_row(3, sequences.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      auto place = static_cast<std::size_t>(std::max(0, time - static_cast<int>(r)));
      for (const std::size_t s : rows[r]) {
        if (place < sequences[s].size()) {
          if (time < static_cast<int>(r)) break;
          of_row[r] = s;
          tokens[r] = sequences[s][place];
          positions[r] = static_cast<std::int32_t>(place);
          break;
        }
        place -= sequences[s].size();
      }
    }
    const auto scores = model_.next_scores(tokens, positions, cache).data().to_vector<float>();
    ASSERT_EQ(scores.size(), 3U * 20U);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (of_row[r] == sequences.size()) continue;
      const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(r) * 20;
      auto& to = got[of_row[r]];
      to.insert(to.end(), begin, begin + 20);
    }
  }
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto expected = plain_scores(model_, sequences[s], *device_);
    ASSERT_EQ(got[s].size(), expected.size()) << s;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(got[s][i], expected[i], 2e-5) << "sequence " << s << ", score " << i;
    }
  }
}

TEST_P(GenerationOn, TheGreedyTextIsThatOfTheWholeSequence) {
  const auto prompts = random_sequences({1, 3, 2});
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.max_length = 6;
  options.end_token = 7;
  const auto got = generate(model_, prompts, options);
  ASSERT_EQ(got.size(), prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Numbers expected = prompts[i];
    while (expected.size() < 6 && (expected.size() == prompts[i].size() || expected.back() != 7)) {
      const auto scores = plain_scores(model_, expected, *device_);
      const auto best = std::max_element(scores.end() - 20, scores.end());
      expected.push_back(static_cast<std::int32_t>(best - (scores.end() - 20)));
    }
    EXPECT_EQ(got[i], expected) << i;
  }
}

std::vector<std::tuple<std::string, std::string>> cases() {
  std::vector<std::tuple<std::string, std::string>> out;
  for (const std::string& device : testing::devices()) {
    out.emplace_back(device, "gpt");
    out.emplace_back(device, "rotary");
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, GenerationOn, ::testing::ValuesIn(cases()), [](const auto& name) {
  return std::get<0>(name.param) + "_" + std::get<1>(name.param);
});

/// Texts of a small model on the CPU, each from one token.
std::vector<TokenSequence> texts(int threads, std::int64_t count, GenerationOptions options) {
  const auto device = make_cpu_device(threads);
  Initializer init(*device, 3);
  const CausalLanguageModel model(init, small_config());
  return generate(model, std::vector<TokenSequence>(static_cast<std::size_t>(count), {5}), options);
}

TEST(Generation, NeitherThreadsNorBatchSizeChangeATokenOfIt) {
  GenerationOptions options;
  options.seed = 11;
  options.end_token = 3;
  options.max_length = 10;
  const auto expected = texts(1, 70, options);
  EXPECT_EQ(texts(3, 70, options), expected);
  options.batch_size = 33;
  EXPECT_EQ(texts(3, 70, options), expected);
  options.batch_size = 1;
  EXPECT_EQ(texts(2, 70, options), expected);
  const auto few = texts(2, 7, options);  // what is drawn depends on the sequence's number alone
  EXPECT_TRUE(std::equal(few.begin(), few.end(), expected.begin()));
  options.seed = 12;
  EXPECT_NE(texts(1, 70, options), expected);
}

TEST(Generation, TextsEndAtTheirLastTokenOrTheirLength) {
  GenerationOptions options;
  options.end_token = 3;
  options.max_length = 9;
  std::int64_t ended = 0;
  std::int64_t told = 0;
  const auto all = texts(2, 60, options);
  for (const TokenSequence& text : all) {
    ASSERT_EQ(text.front(), 5);
    ASSERT_EQ(std::count(text.begin(), text.end() - 1, 3), 0);
    const bool at_end = text.back() == 3;
    ASSERT_TRUE(at_end || text.size() == 9) << text.size();
    ended += at_end ? 1 : 0;
  }
  EXPECT_GT(ended, 5);
  EXPECT_LT(ended, 60);
  EXPECT_GT(std::count_if(all.begin(), all.end(), [&](const auto& t) { return t != all[0]; }), 30);
  const auto device = make_cpu_device(2);
  Initializer init(*device, 3);
  const CausalLanguageModel model(init, small_config());
  const std::vector<TokenSequence> full = {Numbers(16, 1), {1, 2}, Numbers(9, 1)};
  const auto out = generate(model, full, options, [&](std::int64_t done) { told = done; });
  EXPECT_EQ(out[0], full[0]);  // is as long as it may be
  EXPECT_EQ(out[2], full[2]);
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(generate(model, {}, options).empty());
}

TEST(Generation, MistakesAreNamed) {
  const auto device = make_cpu_device(1);
  Initializer init(*device, 3);
  const CausalLanguageModel model(init, small_config());
  const auto refusal = [&](const std::vector<TokenSequence>& prompts, GenerationOptions options) {
    return error_text<UserError>([&] { generate(model, prompts, options); });
  };
  EXPECT_TRUE(says(refusal({{1}, {}}, {}), {"prompt 2 is empty"}));
  EXPECT_TRUE(says(refusal({Numbers(17)}, {}), {"prompt 1 has 17 tokens", "at most 16"}));
  EXPECT_TRUE(says(refusal({{1}}, {.max_length = 17}), {"17 tokens", "at most 16"}));
  EXPECT_TRUE(says(refusal({{1}}, {.sampling = {.top_p = 2}}), {"top-p"}));
  EXPECT_TRUE(
      says(error_text([&] { generate(model, std::vector<TokenSequence>{{20}}, {}); }), {"20"}));
  const KeyValueCache cache(small_config(), 1, 4, DType::f32, *device);
  const Numbers one = {1};
  EXPECT_TRUE(says(error_text([&] { model.next_scores(one, one, cache); }), {"inference"}));
  const autograd::NoGrad no_grad;
  const Numbers far = {4};
  EXPECT_TRUE(says(error_text<ShapeError>([&] { model.next_scores(one, far, cache); }), {"4"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { model.next_scores({}, one, cache); }), {"1"}));
}

}  // namespace
}  // namespace moiety::nn

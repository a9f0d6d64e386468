// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/ops/loss.h"
#include "nn/recorded_training.h"
#include "nn/transformer_pass.h"
#include "support/devices.h"
#include "support/error_text.h"

namespace moiety::nn {
namespace {

template <class Model>
Variable language_loss(const Model& model, const TokenBatch& batch, ForwardContext& context) {
  return model.loss(batch, context);
}

Variable sequence_loss(const SequenceModel& model, const TokenBatch& batch,
                       ForwardContext& context) {
  return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
}

/// Small enough for the emulated GPU.
TransformerConfig tiny(TransformerConfig config) {
  config.hidden = 16;
  config.layers = 1;
  config.heads = 2;
  config.key_heads = config.key_heads > 0 ? 1 : 0;
  config.inner = 20;
  return config;
}

// Adam would make full steps of the rounding errors of the keys' biases, which no score depends on.
class Masked : public RecordedTraining<MaskedLanguageModel, TokenBatch> {
 public:
  Masked(Device& device, const TransformerConfig& config)
      : RecordedTraining(device, OptimizerKind::sgd, language_loss<MaskedLanguageModel>, config) {}
};
class Causal : public RecordedTraining<CausalLanguageModel, TokenBatch> {
 public:
  Causal(Device& device, const TransformerConfig& config)
      : RecordedTraining(device, OptimizerKind::sgd, language_loss<CausalLanguageModel>, config) {}
};
class Regression : public RecordedTraining<SequenceModel, TokenBatch> {
 public:
  Regression(Device& device, const TransformerConfig& config)
      : RecordedTraining(device, OptimizerKind::sgd, sequence_loss, config, std::int64_t{2}) {}
};

/// No token is 0, as those of padding are.
TokenBatch without_labels(const Numbers& lengths, std::uint64_t stream, Device& host) {
  auto sequences = random_sequences(lengths, stream);
  for (Numbers& tokens : sequences) {
    for (std::int32_t& token : tokens) token = std::max(token, 1);
  }
  return pack_tokens(sequences, host);
}

enum class Head : std::uint8_t { some, all, starts };

TokenBatch with_head(TokenBatch batch, Head head) {
  Device& host = batch.tokens.device();
  Numbers labels = batch.tokens.to_vector<std::int32_t>();
  if (head == Head::all) {
    std::rotate(labels.begin(), labels.begin() + 1, labels.end());
    batch.labels = Tensor::from(labels, {std::ssize(labels)}, host);
  } else if (head == Head::some) {
    for (std::size_t t = 0; t < labels.size(); ++t) {
      if (t % 3 != 1) labels[t] = -100;
    }
    score_labelled(batch, labels);
  } else {
    score_starts(batch);
    std::vector<float> y;
    for (std::int64_t i = 0; i < 2 * batch.sequences(); ++i) {
      y.push_back(i % 5 == 3 ? NAN : 0.1F * static_cast<float>(i % 7));
    }
    batch.y = Tensor::from(y, {batch.sequences(), 2}, host);
  }
  return batch;
}

/// Batches of two padded sizes, and of each of them several.
std::vector<TokenBatch> some_batches(Device& host, Head head) {
  std::vector<TokenBatch> out;
  std::uint64_t stream = 1;
  for (const Numbers& lengths :
       {Numbers{5, 1, 9, 2, 16, 3}, Numbers{7, 8, 1, 1, 12}, Numbers(9, 14), Numbers{16, 4, 6, 3},
        Numbers{16, 14, 13, 16, 16, 15, 16, 16, 2}, Numbers{3, 11, 15}}) {
    out.push_back(with_head(without_labels(lengths, stream++, host), head));
  }
  return out;
}

class RecordedTokens : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Device> device_ = make_device(GetParam(), 1);

  template <class Training>
  void follow(const TransformerConfig& config, Head head) {
    const auto batches = some_batches(device_->host(), head);
    Training plain(*device_, config);
    Training recorded(*device_, config);
    for (const TokenBatch& batch : batches) recorded.record({batch});
    const std::vector<StepResult> results = recorded.recorded().results(true);
    ASSERT_EQ(results.size(), batches.size());
    EXPECT_EQ(recorded.recorded().recordings(), 2);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const StepResult expected = plain.plain(batches[i]);
      EXPECT_NEAR(results[i].loss, expected.loss, 2e-5 * expected.loss) << i;
      EXPECT_NEAR(results[i].report.gradient_norm, expected.report.gradient_norm,
                  1e-4 * expected.report.gradient_norm);
      EXPECT_FALSE(results[i].report.skipped);
    }
    EXPECT_LT(relative_distance(recorded.gradient(), plain.gradient()), 1e-4);
    EXPECT_LT(relative_distance(recorded.weights(), plain.weights()), 1e-4);
    EXPECT_LT(relative_distance(recorded.averages(), plain.averages()), 1e-4);
  }
};

TEST_P(RecordedTokens, FollowPlainStepsOfAMaskedModel) {
  follow<Masked>(with_dropout(tiny(small_config())), Head::some);
}

TEST_P(RecordedTokens, FollowPlainStepsOfACausalModel) {
  follow<Causal>(with_dropout(tiny(small_config())), Head::all);
}

TEST_P(RecordedTokens, FollowPlainStepsOfAModelOfSequences) {
  follow<Regression>(with_dropout(tiny(small_config())), Head::starts);
}

TEST_P(RecordedTokens, FollowPlainStepsWithRotaryPositionsAndSharedKeys) {
  follow<Causal>(with_dropout(tiny(other_config())), Head::some);
}

TEST_P(RecordedTokens, AReplayHasTheBitsOfAFirstRun) {
  const TransformerConfig config = with_dropout(tiny(small_config()));
  Masked replayed(*device_, config);
  Masked fresh(*device_, config);
  auto batches = some_batches(device_->host(), Head::some);
  batches.erase(batches.begin() + 2);  // one size is enough, and three batches of it
  batches.resize(3);
  for (const TokenBatch& batch : batches) {
    replayed.record({batch});
    fresh.record({batch});
    fresh.restart();  // its next step runs as it is
  }
  EXPECT_EQ(replayed.weights(), fresh.weights());
  EXPECT_EQ(replayed.averages(), fresh.averages());
}

TEST_P(RecordedTokens, PartsAddUp) {
  const auto batches = some_batches(device_->host(), Head::starts);
  Regression whole(*device_, tiny(small_config()));
  Regression parts(*device_, tiny(small_config()));
  for (int round = 0; round < 2; ++round) {
    const TokenBatch& batch = batches[2];
    whole.record({batch});
    parts.record({part_of(batch, 0, 4), part_of(batch, 4, 5), part_of(batch, 5, 9)});
  }
  const std::vector<StepResult> one = whole.recorded().results(true);
  const std::vector<StepResult> three = parts.recorded().results(true);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i].loss, three[i].loss, 1e-5 * one[i].loss);
  }
  EXPECT_LT(relative_distance(parts.weights(), whole.weights()), 1e-4);
}

TEST_P(RecordedTokens, PaddingHasNoGradientAtAll) {
  Regression training(*device_, with_dropout(tiny(small_config())));
  training.record({some_batches(device_->host(), Head::starts)[0]});
  training.recorded().results(true);
  const std::vector<float> gradient = training.gradient();
  const auto slot = std::ranges::find(training.parameters().slots(), "encoder.embedding.token",
                                      &FlatParameters::Slot::name);
  ASSERT_NE(slot, training.parameters().slots().end());
  const auto* row = gradient.data() + slot->begin;
  EXPECT_TRUE(std::all_of(row, row + 16, [](float g) { return g == 0; }));
  EXPECT_FALSE(std::all_of(row, row + std::ptrdiff_t{20} * 16, [](float g) { return g == 0; }));
}

TEST_P(RecordedTokens, DropOtherElementsEachTime) {
  const TokenBatch batch = some_batches(device_->host(), Head::some)[0];
  Masked training(*device_, with_dropout(tiny(small_config())));
  for (int i = 0; i < 2; ++i) training.record({batch});
  Masked without(*device_, tiny(small_config()));
  for (int i = 0; i < 2; ++i) without.record({batch});
  const auto results = training.recorded().results(true);
  const auto others = without.recorded().results(true);
  ASSERT_EQ(results.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(std::fabs(results[i].loss - others[i].loss), 1e-3);
}

TEST_P(RecordedTokens, MistakesAreNamed) {
  Masked training(*device_, tiny(small_config()));
  const TokenBatch batch = some_batches(device_->host(), Head::some)[0];
  training.record({batch});
  TokenBatch labelless = batch;
  labelless.labels = {};
  EXPECT_TRUE(testing::says(testing::error_text([&] { training.record({labelless}); }),
                            {"the same features and targets"}));
  EXPECT_TRUE(testing::says(
      testing::error_text<UserError>([&] {
        training.record({with_head(without_labels({17, 3}, 1, device_->host()), Head::some)});
      }),
      {"17 tokens", "model.max_length"}));
  GraphBatch graphs;
  graphs.x = Tensor::zeros({3, 1}, DType::i32, device_->host());
  graphs.adj = make_adjacency({}, {}, 3, device_->host());
  graphs.graph_ptr = Tensor::from(Numbers{0, 3}, {2}, device_->host());
  EXPECT_TRUE(testing::says(testing::error_text([&] {
                              training.recorded().run(
                                  {.batch = padded(graphs, 16, device_->staging())});
                            }),
                            {"graphs or tokens"}));
}

INSTANTIATE_TEST_SUITE_P(Devices, RecordedTokens, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

/// Dropout does not depend on the device, nor on the padding.
TEST(RecordedTokensOnGpu, FollowPlainStepsOnACpu) {
  if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
  const auto gpu = make_cuda_device(0, 1);
  const auto cpu = make_cpu_device(1);
  const TransformerConfig config = with_dropout(tiny(other_config()));
  Masked there(*gpu, config);
  Masked here(*cpu, config);
  for (const TokenBatch& batch : some_batches(*cpu, Head::some)) {
    there.record({batch});
    const StepResult expected = here.plain(batch);
    const std::vector<StepResult> result = there.recorded().results(true);
    ASSERT_EQ(result.size(), 1u);
    EXPECT_NEAR(result[0].loss, expected.loss, 2e-5 * expected.loss);
  }
  EXPECT_LT(relative_distance(there.weights(), here.weights()), 1e-4);
}

}  // namespace
}  // namespace moiety::nn

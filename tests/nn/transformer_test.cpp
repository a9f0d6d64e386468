// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "nn/optimizer.h"
#include "nn/transformer_pass.h"
#include "support/error_text.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

/// Scores [T, V] of sequences, in inference.
template <class Model>
std::vector<float> scores_of(const Model& model, const std::vector<Numbers>& sequences,
                             Device& device, std::int32_t shift = 0) {
  const autograd::NoGrad no_grad;
  ForwardContext context;
  TokenBatch batch = pack_tokens(sequences, device);
  Numbers positions = batch.positions.to_vector<std::int32_t>();
  for (std::int32_t& p : positions) p += shift;
  batch.positions = Tensor::from(positions, batch.positions.shape(), device);
  return model.forward(batch, context).data().template to_vector<float>();
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

class TransformerOnCpu : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(2);
  Initializer init_{*device_, 3};
};

TEST_F(TransformerOnCpu, SequencesDoNotSeeEachOther) {
  const MaskedLanguageModel model(init_, small_config());
  const auto sequences = random_sequences({5, 1, 16, 2});
  std::vector<float> alone;
  for (const Numbers& sequence : sequences) {
    const auto scores = scores_of(model, {sequence}, *device_);
    alone.insert(alone.end(), scores.begin(), scores.end());
  }
  expect_near(scores_of(model, sequences, *device_), alone, 1e-5F);
}

TEST_F(TransformerOnCpu, ScoredTokensHearWhatTheyWouldAmongAll) {
  for (const TransformerConfig& config : {small_config(), other_config()}) {
    const MaskedLanguageModel model(init_, config);
    TokenBatch batch = labelled_batch(*device_);
    const autograd::NoGrad no_grad;
    ForwardContext context;
    const auto scored = model.forward(batch, context).data().to_vector<float>();
    const Numbers rows = batch.scored.index.to_vector<std::int32_t>();
    batch.scored = {};
    const auto all = model.forward(batch, context).data().to_vector<float>();
    ASSERT_EQ(std::ssize(all), batch.token_count() * 20);
    std::vector<float> expected;
    for (const std::int32_t row : rows) {
      expected.insert(expected.end(), all.begin() + row * 20, all.begin() + (row + 1) * 20);
    }
    expect_near(scored, expected, 1e-5F);
  }
}

TEST_F(TransformerOnCpu, ADecoderDoesNotLookAhead) {
  const CausalLanguageModel decoder(init_, small_config());
  const MaskedLanguageModel encoder(init_, small_config());
  auto sequences = random_sequences({10});
  const auto before = scores_of(decoder, sequences, *device_);
  const auto seen = scores_of(encoder, sequences, *device_);
  sequences[0][9] = (sequences[0][9] + 1) % 20;
  const auto after = scores_of(decoder, sequences, *device_);
  const auto now_seen = scores_of(encoder, sequences, *device_);
  const std::ptrdiff_t last = 9 * 20;
  expect_near({after.begin(), after.begin() + last}, {before.begin(), before.begin() + last}, 0);
  EXPECT_GT(std::fabs(after.back() - before.back()), 1e-3);
  EXPECT_GT(std::fabs(now_seen[0] - seen[0]), 1e-3);
}

TEST_F(TransformerOnCpu, RotaryPositionsAreRelative) {
  const CausalLanguageModel model(init_, other_config());
  const auto sequences = random_sequences({8});
  const auto scores = scores_of(model, sequences, *device_);
  expect_near(scores_of(model, sequences, *device_, 5), scores, 2e-4F);
  Initializer same(*device_, 3);
  const CausalLanguageModel absolute(same, small_config());
  const auto placed = scores_of(absolute, sequences, *device_);
  const auto moved = scores_of(absolute, sequences, *device_, 5);
  EXPECT_GT(relative_distance(moved, placed), 1e-2);
}

TEST_F(TransformerOnCpu, WeightsBeginAsInTheReferences) {
  TransformerConfig config;
  config.vocabulary = 600;
  config.layers = 8;
  config.hidden = 192;
  const CausalLanguageModel decoder(init_, config);
  const MaskedLanguageModel encoder(init_, config);
  const auto sd_of = [](const Module& model, const std::string& name) {
    for (const NamedParameter& p : model.named_parameters()) {
      if (p.name != name) continue;
      double squares = 0;
      for (const float x : p.value.data().to_vector<float>()) squares += double{x} * double{x};
      return std::sqrt(squares / static_cast<double>(p.value.numel()));
    }
    throw Error("there is no " + name);
  };
  for (const char* name :
       {"decoder.embedding.token", "decoder.embedding.position",
        "decoder.layer.3.attention.qkv.weight", "decoder.layer.3.inner.up.weight"}) {
    EXPECT_NEAR(sd_of(decoder, name), 0.02, 0.001) << name;
  }
  EXPECT_NEAR(sd_of(decoder, "decoder.layer.3.attention.out.weight"), 0.005, 0.0003);
  EXPECT_NEAR(sd_of(decoder, "decoder.layer.3.inner.down.weight"), 0.005, 0.0003);
  EXPECT_NEAR(sd_of(encoder, "encoder.layer.3.inner.down.weight"), 0.02, 0.001);
  EXPECT_EQ(sd_of(encoder, "encoder.layer.3.inner.down.bias"), 0);
  EXPECT_EQ(sd_of(encoder, "encoder.layer.3.inner_norm.weight"), 1);
}

TEST_F(TransformerOnCpu, ModelsLearn) {
  TransformerConfig config = small_config();
  config.dropout = 0.05;
  const CausalLanguageModel model(init_, config);
  const FlatParameters parameters(model);
  Optimizer optimizer(parameters, {});
  TokenBatch batch = pack_tokens(random_sequences({9, 12, 4, 16}), *device_);
  Numbers labels = batch.tokens.to_vector<std::int32_t>();
  labels.erase(labels.begin());
  labels.push_back(-1);
  score_labelled(batch, labels);
  double loss = 0;
  double first = 0;
  for (std::uint64_t step = 0; step < 150; ++step) {
    auto context = ForwardContext::training(5, step);
    const FlatBuffer gradients = parameters.make_buffer();
    const Variable value = model.loss(batch, context);
    loss = value.item() / static_cast<double>(batch.scored.rows());
    if (step == 0) first = loss;
    autograd::backward(value, parameters.parameters(), gradients.views);
    optimizer.step(gradients, 3e-3);
  }
  EXPECT_GT(first, std::log(20.0) - 0.5);
  EXPECT_LT(loss, 0.5);
}

TEST_F(TransformerOnCpu, ARecordedStepDropsTheSame) {
  const MaskedLanguageModel model(init_, with_dropout(small_config()));
  const TokenBatch batch = labelled_batch(*device_);
  auto context = ForwardContext::training(5, 17);
  const double expected = model.loss(batch, context).item();
  auto again = ForwardContext::training(5, 17);
  std::vector<std::int64_t> keys;
  for (int layer = 0; layer < 7; ++layer) {
    const RngKey key = again.next_dropout_key();
    keys.push_back(static_cast<std::int64_t>(key.seed));
    keys.push_back(static_cast<std::int64_t>(key.stream));
  }
  auto recorded = ForwardContext::recorded(Tensor::from(keys, {7, 2}, *device_));
  EXPECT_EQ(model.loss(batch, recorded).item(), expected);
}

TEST_F(TransformerOnCpu, MistakesAreNamed) {
  const MaskedLanguageModel model(init_, small_config());
  const SequenceModel sequence_model(init_, small_config(), 2);
  ForwardContext context;
  const TokenBatch unlabelled = pack_tokens(random_sequences({4}), *device_);
  EXPECT_TRUE(says(error_text([&] { model.loss(unlabelled, context); }), {"needs the labels"}));
  ForwardContext elsewhere;
  elsewhere.attend_by(kernels::AttentionLibrary::cudnn);
  EXPECT_TRUE(says(error_text<UserError>([&] { model.forward(unlabelled, elsewhere); }),
                   {"run.attention = \"cudnn\" needs a GPU"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { sequence_model.forward(unlabelled, context); }),
                   {"score_starts"}));
  EXPECT_TRUE(says(error_text<UserError>([&] {
                     model.forward(pack_tokens(random_sequences({17}), *device_), context);
                   }),
                   {"17 tokens", "at most 16", "model.max_length"}));
  EXPECT_TRUE(says(error_text([&] {
                     model.forward(pack_tokens({{3, 20}}, *device_), context);
                   }),
                   {"row 1", "20"}));
  const auto refusal = [&](auto change) {
    TransformerConfig config = small_config();
    change(config);
    return error_text<UserError>([&] { const CausalLanguageModel m(init_, config); });
  };
  using Config = TransformerConfig;
  EXPECT_TRUE(says(refusal([](Config& c) { c.vocabulary = 0; }), {"model.vocabulary"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.heads = 5; }), {"model.heads", "24", "5"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.key_heads = 3; }), {"model.key_heads"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.dropout = 1; }), {"model.dropout"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.norm_eps = 0; }), {"model.norm_eps"}));
  EXPECT_TRUE(says(refusal([](Config& c) {
                     c.positions = PositionKind::rotary;
                     c.hidden = 12;
                   }),
                   {"even size"}));
}

}  // namespace
}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include "nn/huggingface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/elementwise.h"
#include "nn/flat_parameters.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

// tests/reference/make_transformer_golden.py made the file that is read here.
namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;
using Numbers = std::vector<std::int32_t>;

constexpr std::int64_t kClasses = 3;

TransformerConfig golden_config(bool encoder) {
  TransformerConfig config;
  config.vocabulary = 30;
  config.max_length = 14;
  config.token_types = encoder ? 1 : 0;
  config.hidden = 24;
  config.layers = 2;
  config.heads = 3;
  config.inner = 40;
  config.activation = encoder ? Activation::gelu : Activation::gelu_tanh;
  return config;
}

class HuggingFace : public ::testing::TestWithParam<std::string> {
 protected:
  const Tensor& golden(const std::string& name) const { return golden_.tensors.at(name); }

  /// The golden tensors whose names begin so, without that.
  Checkpoint part(const std::string& prefix) const {
    Checkpoint out;
    for (const auto& [name, tensor] : golden_.tensors) {
      if (name.starts_with(prefix)) out.tensors.emplace(name.substr(prefix.size()), tensor);
    }
    return out;
  }
  /// RoBERTa's weights without those of the other head.
  Checkpoint roberta(const std::string& without) const {
    Checkpoint out = part("roberta/");
    std::erase_if(out.tensors, [&](const auto& t) { return t.first.starts_with(without); });
    return out;
  }

  TokenBatch batch() const {
    const Numbers tokens = golden("tokens").to_vector<std::int32_t>();
    std::vector<Numbers> sequences;
    auto at = tokens.begin();
    for (const std::int32_t length : golden("lengths").to_vector<std::int32_t>()) {
      sequences.emplace_back(at, at + length);
      at += length;
    }
    return pack_tokens(sequences, *host_);
  }

  void expect_near(const Tensor& got, const Tensor& expected, double tolerance,
                   const std::string& name) const {
    ASSERT_EQ(got.shape(), expected.shape()) << name;
    const auto a = got.to_vector<float>();
    const auto b = expected.to_vector<float>();
    for (std::size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], tolerance) << name << ", element " << i;
    }
  }

  /// Compares the gradients of a loss that is summed over `count` labels with the golden ones,
  /// which are those of its mean.
  void expect_gradients(const Module& model, const StateDictNames& names, const Variable& loss,
                        double count, const std::string& prefix) const {
    EXPECT_NEAR(loss.item() / count, golden(prefix + "/loss").item(), 1e-5);
    const Variable mean = ops::affine(loss, 1 / count);
    const auto named = model.named_parameters();
    const Variables grads = autograd::grad({mean}, model.parameters());
    std::vector<NamedTensor> ours;
    for (std::size_t i = 0; i < named.size(); ++i) ours.push_back({named[i].name, grads[i].data()});
    const Checkpoint exported = export_state_dict(ours, names);
    const Checkpoint expected = part(prefix + "/gradient/");
    ASSERT_EQ(exported.tensors.size(), expected.tensors.size());
    for (const auto& [name, gradient] : expected.tensors) {
      double largest = 0;
      for (const float g : gradient.to_vector<float>()) {
        largest = std::max(largest, std::fabs(double{g}));
      }
      // A bias of keys adds the same to all scores of a query: its gradient is zero.
      EXPECT_EQ(largest > 1e-4, name.find("key.bias") == std::string::npos) << name;
      expect_near(exported.tensors.at(name), gradient, 1e-4 * largest + 1e-6, name);
    }
  }

  std::unique_ptr<Device> host_ = make_cpu_device(1);
  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
  Checkpoint golden_ = Checkpoint::load(MOIETY_SOURCE_DIR "/tests/golden/transformers.safetensors",
                                        *host_, Checkpoint::Integrity::any);
  Initializer init_{*device_, 3};
};

TEST_P(HuggingFace, RobertaForMaskedLm) {
  const MaskedLanguageModel model(init_, golden_config(true));
  const StateDictNames names = state_dict_names(model);
  import_state_dict(roberta("classifier."), names, model);
  TokenBatch tokens = batch();
  ForwardContext context;
  {
    const autograd::NoGrad no_grad;
    expect_near(model.forward(to_device(tokens, *device_), context).data(), golden("masked/logits"),
                1e-5, "logits");
  }
  const Numbers labels = golden("masked/labels").to_vector<std::int32_t>();
  score_labelled(tokens, labels);
  const auto count = static_cast<double>(tokens.scored.rows());
  ASSERT_LT(tokens.scored.rows(), tokens.token_count());
  expect_gradients(model, names, model.loss(to_device(tokens, *device_), context), count, "masked");
}

TEST_P(HuggingFace, RobertaForSequenceClassification) {
  const SequenceModel model(init_, golden_config(true), kClasses);
  const StateDictNames names = state_dict_names(model);
  import_state_dict(roberta("lm_head."), names, model);
  TokenBatch tokens = batch();
  score_starts(tokens);
  ForwardContext context;
  const Variable logits = model.forward(to_device(tokens, *device_), context);
  expect_near(logits.data(), golden("sequence/logits"), 1e-5, "logits");
  const Tensor labels = golden("sequence/labels").to(*device_);
  expect_gradients(model, names, ops::cross_entropy(logits, labels), 4, "sequence");
}

TEST_P(HuggingFace, Gpt2LmHeadModel) {
  const CausalLanguageModel model(init_, golden_config(false));
  const StateDictNames names = state_dict_names(model);
  import_state_dict(part("gpt2/"), names, model);
  TokenBatch tokens = batch();
  ForwardContext context;
  {
    const autograd::NoGrad no_grad;
    expect_near(model.forward(to_device(tokens, *device_), context).data(), golden("causal/logits"),
                1e-5, "logits");
  }
  Numbers labels = tokens.tokens.to_vector<std::int32_t>();
  std::rotate(labels.begin(), labels.begin() + 1, labels.end());
  for (const std::int32_t end : tokens.ptr.to_vector<std::int32_t>()) {
    if (end > 0) labels[static_cast<std::size_t>(end) - 1] = -100;
  }
  score_labelled(tokens, labels);
  const auto count = static_cast<double>(tokens.scored.rows());
  expect_gradients(model, names, model.loss(to_device(tokens, *device_), context), count, "causal");
}

TEST_P(HuggingFace, WhatIsExportedIsReadBack) {
  const MaskedLanguageModel model(init_, golden_config(true));
  const StateDictNames names = state_dict_names(model);
  const testing::TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  export_state_dict(model, names).save(path);
  const Checkpoint stored = Checkpoint::load(path, *host_, Checkpoint::Integrity::any);
  EXPECT_EQ(stored.get_string("format"), "pt");
  Initializer other_seed(*device_, 4);
  const MaskedLanguageModel other(other_seed, golden_config(true));
  const auto a = model.named_parameters();
  const auto b = other.named_parameters();
  EXPECT_NE(a[1].value.data().to_vector<float>(), b[1].value.data().to_vector<float>());
  import_state_dict(stored, names, other);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].value.data().to_vector<float>(), b[i].value.data().to_vector<float>())
        << a[i].name;
  }
}

TEST_P(HuggingFace, ABodyIsReadWithoutItsHead) {
  const SequenceModel model(init_, golden_config(true), kClasses);
  const StateDictNames names = state_dict_names(model);
  Checkpoint masked = roberta("classifier.");
  masked.tensors["lm_head.decoder.weight"] = golden("roberta/lm_head.dense.weight");
  masked.tensors["roberta.embeddings.position_ids"] = golden("tokens");
  masked.tensors["roberta.pooler.dense.bias"] = golden("roberta/lm_head.dense.bias");
  import_state_dict(masked, names, model, ImportedPart::body);
  const Checkpoint got = export_state_dict(model, names);
  const std::string word = "roberta.embeddings.word_embeddings.weight";
  expect_near(got.tensors.at(word), golden("roberta/" + word), 0, word);
  EXPECT_TRUE(says(error_text<IoError>([&] { import_state_dict(masked, names, model); }),
                   {"\"classifier.dense.weight\" is missing", "\"lm_head.bias\" is unexpected"}));
  // As RobertaModel saves it: without the prefix, as does GPT2Model.
  Checkpoint bare;
  for (const auto& [name, tensor] : masked.tensors) {
    if (name.starts_with("roberta.")) bare.tensors.emplace(name.substr(8), tensor);
  }
  import_state_dict(bare, names, model, ImportedPart::body);
}

TEST_P(HuggingFace, NothingIsReadOfWhatDoesNotFit) {
  const CausalLanguageModel model(init_, golden_config(false));
  const StateDictNames names = state_dict_names(model);
  const auto before = model.parameters()[0].data().to_vector<float>();
  Checkpoint wrong = part("gpt2/");
  wrong.tensors.erase("transformer.h.1.ln_2.bias");
  wrong.tensors["transformer.h.2.ln_1.bias"] = golden("gpt2/transformer.ln_f.bias");
  wrong.tensors["transformer.wpe.weight"] = golden("gpt2/transformer.wte.weight");
  EXPECT_TRUE(says(
      error_text<IoError>([&] { import_state_dict(wrong, names, model); }),
      {"\"transformer.h.1.ln_2.bias\" is missing", "\"transformer.h.2.ln_1.bias\" is unexpected",
       "\"transformer.wpe.weight\" is f32 [30, 24] instead of floating [14, 24]"}));
  EXPECT_EQ(model.parameters()[0].data().to_vector<float>(), before);
}

TEST_P(HuggingFace, WeightsOfOtherFormatsAreConverted) {
  const CausalLanguageModel model(init_, golden_config(false));
  Checkpoint halves = part("gpt2/");
  for (auto& [name, tensor] : halves.tensors) {
    tensor = ops::cast(Variable(tensor), DType::bf16).data();
  }
  import_state_dict(halves, state_dict_names(model), model);
  const auto got = export_state_dict(model, state_dict_names(model));
  for (const auto& [name, tensor] : halves.tensors) {
    expect_near(got.tensors.at(name), ops::cast(Variable(tensor), DType::f32).data(), 0, name);
  }
}

TEST_P(HuggingFace, OtherArchitecturesHaveNoNamesThere) {
  const auto refusal = [&](auto change) {
    TransformerConfig config = golden_config(false);
    change(config);
    const CausalLanguageModel model(init_, config);
    return error_text<UserError>([&] { state_dict_names(model); });
  };
  using Config = TransformerConfig;
  EXPECT_TRUE(says(refusal([](Config& c) { c.norm = RowNormKind::rms; }), {"model.norm"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.gated = true; }), {"model.gated"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.key_heads = 1; }), {"model.key_heads"}));
  EXPECT_TRUE(says(refusal([](Config& c) { c.token_types = 2; }), {"model.token_types"}));
  EXPECT_TRUE(
      says(refusal([](Config& c) { c.positions = PositionKind::rotary; }), {"model.positions"}));
}

std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
  if (cuda_status().count > 0) names.emplace_back("cuda");
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, HuggingFace, ::testing::ValuesIn(devices()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace moiety::nn

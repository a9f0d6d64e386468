// SPDX-License-Identifier: Apache-2.0
#include "apps/model_spec.h"

#include <gtest/gtest.h>

#include "support/error_text.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;

TEST(CommonUnits, AreOneOrAnError) {
  ModelSpec spec;
  data::DatasetInfo info;
  info.path = "gap.h5";
  const auto units = [&](const std::string& of_model, const std::string& of_data) {
    spec.targets = {"gap"};
    spec.units = {of_model};
    info.targets = {{"mu", "debye", "regression"}, {"gap", of_data, "regression"}};
    return common_units(spec, info).front();
  };
  EXPECT_EQ(units("eV", "eV"), "eV");
  EXPECT_EQ(units("eV", ""), "eV");
  EXPECT_EQ(units("", "eV"), "eV");
  EXPECT_EQ(units("", ""), "");
  EXPECT_TRUE(says(error_text<UserError>([&] { units("eV", "kcal/mol"); }),
                   {"'gap'", "kcal/mol in gap.h5", "trained on eV"}));
}

TEST(ModelSpec, ComesBackFromACheckpointsState) {
  ModelSpec spec;
  spec.kind = ModelKind::sequence;
  spec.transformer.vocabulary = 50;
  spec.transformer.max_length = 77;
  spec.transformer.hidden = 24;
  spec.transformer.heads = 4;
  spec.transformer.key_heads = 2;
  spec.transformer.gated = true;
  spec.transformer.norm = nn::RowNormKind::rms;
  spec.transformer.positions = nn::PositionKind::rotary;
  spec.transformer.activation = nn::Activation::silu;
  spec.tokenizer = "{\"kind\": \"words\"}";
  spec.too_long = data::TooLong::truncate;
  spec.target_task = "binary";
  spec.targets = {"active"};
  spec.units = {""};
  spec.mean = {0};
  spec.sd = {1};
  const ModelSpec back = model_spec_from_state(to_state(spec), "a.ckpt");
  EXPECT_EQ(to_state(back), to_state(spec));
  EXPECT_EQ(back.transformer.key_heads, 2);
  EXPECT_EQ(back.transformer.positions, nn::PositionKind::rotary);
  EXPECT_EQ(back.too_long, data::TooLong::truncate);
  auto damaged = to_state(spec);
  auto& text = damaged.begin()->second;
  text.replace(text.find("\"heads\":4"), 9, "\"heads\":5");
  EXPECT_TRUE(says(error_text<IoError>([&] { model_spec_from_state(damaged, "a.ckpt"); }),
                   {"a.ckpt", "model.hidden must be a multiple of model.heads"}));
}

}  // namespace
}  // namespace moiety::apps

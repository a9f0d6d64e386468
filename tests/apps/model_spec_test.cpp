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

}  // namespace
}  // namespace moiety::apps

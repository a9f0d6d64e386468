// SPDX-License-Identifier: Apache-2.0
#include "apps/suggest.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace moiety::apps {
namespace {

const std::vector<std::string> kNames = {"smiles", "band_gap", "homo", "lumo"};

TEST(Suggest, NearestName) {
  EXPECT_EQ(nearest("bandgap", kNames), "band_gap");
  EXPECT_EQ(nearest("SMILE", kNames), "smiles");
  EXPECT_EQ(nearest("hmoo", kNames), "homo");
  EXPECT_EQ(nearest("polarizability", kNames), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string>{}), std::nullopt);
}

TEST(Suggest, EndOfAMessage) {
  EXPECT_EQ(did_you_mean("bandgap", kNames), "; did you mean 'band_gap'?");
  EXPECT_EQ(did_you_mean("polarizability", kNames), "");
}

}  // namespace
}  // namespace moiety::apps

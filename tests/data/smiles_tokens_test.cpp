// SPDX-License-Identifier: Apache-2.0
#include "data/smiles_tokens.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/golden.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

std::vector<std::string> tokens_of(const std::string& text) {
  const auto tokens = smiles_tokens(text);
  return {tokens.begin(), tokens.end()};
}

/// tests/golden/tokenizers.json comes from tests/reference/tokenizers_golden.py.
TEST(SmilesTokens, ThoseOfTheExpression) {
  const auto golden = read_golden("tokenizers.json")["smiles"];
  EXPECT_GE(golden.size(), 15u);
  for (const auto& row : golden) {
    EXPECT_EQ(tokens_of(row["text"]), row["tokens"].get<std::vector<std::string>>());
  }
}

TEST(SmilesTokens, BracketsHoldAnything) {
  EXPECT_EQ(tokens_of("[C@@H]"), std::vector<std::string>{"[C@@H]"});
  EXPECT_EQ(tokens_of("[\xC3\xA9[]C"), (std::vector<std::string>{"[\xC3\xA9[]", "C"}));
  EXPECT_TRUE(tokens_of("").empty());
}

std::string refusal(const std::string& text) {
  return error_text<UserError>([&] { smiles_tokens(text); });
}

TEST(SmilesTokens, NamesWhatBeginsNone) {
  EXPECT_EQ(refusal("CC!O"), "character 3, '!', begins no SMILES token");
  EXPECT_EQ(refusal("CC O"), "character 3, ' ', begins no SMILES token");
  EXPECT_EQ(refusal("[\xC3\xA9]X"), "character 4, 'X', begins no SMILES token");
  EXPECT_EQ(refusal("C\xC3\xA9"), "character 2, '\xC3\xA9', begins no SMILES token");
  EXPECT_EQ(refusal("C\xFF"), "character 2, byte 0xff, begins no SMILES token");
  EXPECT_EQ(refusal("C\n"), "character 2, byte 0x0a, begins no SMILES token");
  EXPECT_EQ(refusal("C[NH3"),
            "character 2, '[', begins no SMILES token: a bracket atom is empty or not closed");
  EXPECT_EQ(refusal("[]"),
            "character 1, '[', begins no SMILES token: a bracket atom is empty or not closed");
  EXPECT_EQ(refusal("C%1"), "character 2, '%', begins no SMILES token: two digits must follow");
  EXPECT_EQ(refusal(std::string("C\0", 2)), "character 2, byte 0x00, begins no SMILES token");
}

}  // namespace
}  // namespace moiety::data

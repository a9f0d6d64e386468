// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "data/tokenizer.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::apps {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class TokenizerCommand : public ::testing::Test {
 protected:
  TokenizerCommand() {
    write_bytes(folder_ / "m.csv", "smiles,gap\nCCO,1\nCC(=O)N,2\nBrCN,3\nC!,4\n,5\nCCO,6\n");
  }

  /// What `moiety tokenizer ARGUMENTS` prints; it must not fail.
  std::string run(std::vector<std::string> arguments) {
    ::testing::internal::CaptureStdout();
    parse(std::move(arguments));
    return ::testing::internal::GetCapturedStdout();
  }
  /// What it prints, what it tells on stderr and how it fails.
  std::string failure(std::vector<std::string> arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const std::string error = error_text<UserError>([&] { parse(std::move(arguments)); });
    const std::string out = ::testing::internal::GetCapturedStdout();
    return out + ::testing::internal::GetCapturedStderr() + error;
  }
  std::string train(const std::string& kind, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"train", folder_ / "m.csv", "-o", folder_ / "t", "--kind", kind});
    return run(std::move(more));
  }
  std::unique_ptr<data::Tokenizer> trained() const { return data::load_tokenizer(folder_ / "t"); }

  TemporaryFolder folder_;

 private:
  static void parse(std::vector<std::string> arguments) {
    CLI::App app;
    add_tokenizer(app);
    arguments.insert(arguments.begin(), "tokenizer");
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  }
};

TEST_F(TokenizerCommand, TrainsOnTheRowsItCanRead) {
  const std::string m = folder_ / "m.csv";
  EXPECT_TRUE(says(train("smiles"), {"t: 22 tokens, learned from 4 texts in", "4.0 tokens a text",
                                     "2 rows left out; the first: " + m +
                                         ":5: character 2, '!', begins no SMILES token"}));
  EXPECT_TRUE(says(failure({"train", m, "-o", folder_ / "t", "--kind", "bpe"}), {"--overwrite"}));
  EXPECT_TRUE(says(train("bpe", {"--overwrite", "--size", "263"}), {"t: 263 tokens"}));
  EXPECT_EQ(trained()->vocabulary().token(0), "<s>") << "not the older one";
  EXPECT_TRUE(
      says(train("smiles", {"--overwrite", "--min-frequency", "3"}),
           {"2 texts do not come back", m + ":3: not in the vocabulary: '(', '=', ')', 'N'"}));
}

TEST_F(TokenizerCommand, RandomSmilesAddTheirTokens) {
  write_bytes(folder_ / "m.csv", "smiles\nN[C@H](C)C(=O)O\nC(\n");
  EXPECT_TRUE(says(train("smiles", {"--random", "20", "--seed", "1"}),
                   {"learned from 21 texts", "1 rows left out", "m.csv:3: syntax error"}));
  EXPECT_TRUE(trained()->vocabulary().find("[C@@H]"));
  const std::string first = read_bytes(folder_ / "t/vocab.txt");
  train("smiles", {"--random", "20", "--seed", "1", "--overwrite"});
  EXPECT_EQ(read_bytes(folder_ / "t/vocab.txt"), first);
}

TEST_F(TokenizerCommand, EncodesTexts) {
  train("smiles");
  EXPECT_EQ(run({"encode", folder_ / "t", "CCO", "NBr"}),
            "12 15 15 16 13\t[CLS] C C O [SEP]\n12 17 21 13\t[CLS] N Br [SEP]\n");
  train("bpe", {"--overwrite", "--size", "262"});
  write_bytes(folder_ / "texts", "CCO\r\n\nC N\n");
  EXPECT_EQ(run({"encode", folder_ / "t", "--input", folder_ / "texts"}),
            "0 261 51 2\t<s> CC O </s>\n0 2\t<s> </s>\n0 39 225 50 2\t<s> C \xC4\xA0 N </s>\n");
}

TEST_F(TokenizerCommand, ReadsTheStandardInput) {
  train("smiles");
  std::istringstream lines("CO\nC");
  std::streambuf* console = std::cin.rdbuf(lines.rdbuf());
  const std::string out = run({"encode", folder_ / "t"});
  std::cin.rdbuf(console);
  EXPECT_EQ(out, "12 15 16 13\t[CLS] C O [SEP]\n12 15 13\t[CLS] C [SEP]\n");
}

TEST_F(TokenizerCommand, NamesTextsThatDoNotComeBack) {
  train("smiles");
  EXPECT_EQ(failure({"encode", folder_ / "t", "CI", "CCO", "C?("}),
            "12 15 11 13\t[CLS] C [UNK] [SEP]\n"
            "12 15 15 16 13\t[CLS] C C O [SEP]\n"
            "12 15 11 18 13\t[CLS] C [UNK] ( [SEP]\n"
            "moiety: text 1: not in the vocabulary: 'I'\n"
            "moiety: text 3: not in the vocabulary: '?'\n"
            "2 of 3 texts do not come back from their ids");
  EXPECT_TRUE(says(failure({"encode", folder_ / "t", "C C"}), {"\nmoiety: text 1: character 2"}));
  EXPECT_TRUE(says(failure({"encode", folder_ / "none", "C"}), {"none is no folder"}));
}

TEST_F(TokenizerCommand, RefusesWhatCannotBeLearned) {
  const auto refused = [&](const std::string& source, const std::string& kind) {
    return failure({"train", folder_ / source, "-o", folder_ / "t", "--kind", kind});
  };
  EXPECT_TRUE(says(refused("none.csv", "bpe"), {"none.csv"}));
  EXPECT_TRUE(says(refused("m.csv", "pbe"), {"neither smiles nor bpe", "did you mean 'bpe'"}));
  write_bytes(folder_ / "bad.csv", "smiles\n!\n");
  EXPECT_TRUE(says(refused("bad.csv", "smiles"), {"bad.csv holds no SMILES", "bad.csv:2: char"}));
}

}  // namespace
}  // namespace moiety::apps

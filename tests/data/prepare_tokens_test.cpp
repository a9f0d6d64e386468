// SPDX-License-Identifier: Apache-2.0
#include "data/prepare_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/featurize.h"
#include "data/prepare.h"
#include "data/smiles_tokens.h"
#include "data/tokenizer_record.h"
#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class PrepareTokensTest : public ::testing::Test {
 protected:
  PrepareOptions options(const std::vector<std::string>& smiles) {
    std::string content = "smiles\n";
    for (const std::string& text : smiles) content += text + "\n";
    write_bytes(folder_ / "source.csv", content);
    PrepareOptions out;
    out.sources = {folder_ / "source.csv"};
    out.output = folder_ / "data.h5";
    out.graphs = false;
    out.tokens.wanted = true;
    out.overwrite = true;
    return out;
  }
  /// A tokenizer's folder with these lines as its words.
  std::filesystem::path vocabulary(const std::string& lines) {
    std::filesystem::create_directories(folder_ / "words");
    write_bytes(folder_ / "words" / "vocab.txt", lines);
    return folder_ / "words";
  }
  Dataset dataset() { return Dataset((folder_ / "data.h5").string()); }
  std::string rejects() { return read_bytes(folder_ / "data.h5.rejects.csv"); }
  TemporaryFolder folder_;
};

TEST_F(PrepareTokensTest, LearnsTheWordsOfTheMoleculesAlone) {
  auto rows = some_smiles();
  rows.push_back("C[Zz]C");  // no molecule: its word is not learned
  const PrepareReport report = prepare(options(rows));
  EXPECT_EQ(report.molecules, 30);
  EXPECT_EQ(report.rejected, 1);
  EXPECT_TRUE(report.tokens.learned);
  EXPECT_EQ(report.tokens.words.front(), "C");
  EXPECT_EQ(report.tokens.unknown_molecules, 0);
  EXPECT_EQ(std::ranges::count(report.tokens.words, "[Zz]"), 0);
  const Dataset data = dataset();
  const auto tokenizer = load_tokenizer_of(data);
  for (std::int64_t m = 0; m < data.size(); ++m) {
    const std::string smiles = some_smiles()[static_cast<std::size_t>(m)];
    EXPECT_EQ(tokenizer->decode(data.tokens(m)), smiles);
    for (const auto word : smiles_tokens(smiles)) {
      EXPECT_EQ(std::ranges::count(report.tokens.words, word), 1) << word;
    }
  }
  EXPECT_EQ(report.tokens.vocabulary, data.info().vocabulary);
  EXPECT_EQ(report.tokens.vocabulary, 15 + std::ssize(report.tokens.words));
  EXPECT_EQ(report.tokens.tokens, data.info().tokens);
  EXPECT_EQ(report.tokens.longest, data.info().longest_tokens);
}

TEST_F(PrepareTokensTest, LearnsOfRandomFormsAsWell) {
  const PrepareReport report =
      prepare(options({"C(O)N", "OCC", "NCC", "NCO", "N[C@@H](C)O", "N[C@@H](F)O", "N[C@@H](F)C",
                       "C[C@@H](F)O", "C[C@@H](Cl)O", "C[C@@H](Cl)N"}));
  EXPECT_EQ(std::ranges::count(report.tokens.words, "[C@H]"), 1) << "of no row itself";
}

TEST_F(PrepareTokensTest, TheSameBytesForAnyThreads) {
  auto o = options(some_smiles());
  o.threads = 1;
  prepare(o);
  const std::string one = read_bytes(folder_ / "data.h5");
  o.threads = 3;
  prepare(o);
  EXPECT_TRUE(read_bytes(folder_ / "data.h5") == one);
}

TEST_F(PrepareTokensTest, UnknownTokensAreCountedAndNamed) {
  auto o = options({"CCO", "CCN", "CO", "NC", "C", "O", "CC", "OO", "OC", "CCC"});
  o.tokens.tokenizer = vocabulary("[UNK]\n[CLS]\n[SEP]\nC\nO\n");
  const PrepareReport report = prepare(o);
  EXPECT_EQ(report.molecules, 10);
  EXPECT_FALSE(report.tokens.learned);
  EXPECT_EQ(report.tokens.unknown_molecules, 2);
  EXPECT_EQ(report.tokens.first_unknown, "source.csv:3: 'N'");
  const Dataset data = dataset();
  const auto ids = data.tokens(1);
  EXPECT_EQ(std::vector<std::int32_t>(ids.begin(), ids.end()),
            (std::vector<std::int32_t>{1, 3, 3, 0, 2}));
}

TEST_F(PrepareTokensTest, WithoutAnUnknownTokenTheRowIsRejected) {
  auto o = options({"CCO", "CCN", "CO", "C", "O", "CC", "OO", "OC", "CCC", "CCCC", "OCC"});
  o.tokens.tokenizer = vocabulary("[CLS]\n[SEP]\nC\nO\n");
  const PrepareReport report = prepare(o);
  EXPECT_EQ(report.molecules, 10);
  EXPECT_EQ(report.rejected_by_kind.at("SMILES: not tokenised"), 1);
  EXPECT_TRUE(says(rejects(), {"source.csv,3,,CCN", "'N'", "not in the vocabulary"}));
}

TEST_F(PrepareTokensTest, WhatHasNoWordsIsRejected) {
  auto rows = some_smiles();
  rows.push_back("C%(100)CCC%(100)");  // RDKit reads rings of three digits, the words do not
  const PrepareReport report = prepare(options(rows));
  EXPECT_EQ(report.molecules, 30);
  EXPECT_EQ(report.rejected_by_kind.at("SMILES: not tokenised"), 1);
  EXPECT_TRUE(says(rejects(), {"begins no SMILES token"}));
}

TEST_F(PrepareTokensTest, AMissingRoleIsNamed) {
  auto o = options(some_smiles());
  o.tokens.tokenizer = vocabulary("[UNK]\nC\n");
  o.tokens.roles = {TokenRole::unknown, TokenRole::mask};
  EXPECT_TRUE(says(error_text<UserError>([&] { prepare(o); }),
                   {"words", "no mask token", "moiety tokenizer train"}));
  EXPECT_FALSE(std::filesystem::exists(o.output));
}

TEST_F(PrepareTokensTest, NothingToStoreIsRefused) {
  auto o = options(some_smiles());
  o.tokens.wanted = false;
  EXPECT_TRUE(says(error_text<UserError>([&] { prepare(o); }), {"graphs or tokens"}));
}

}  // namespace
}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/word_tokenizer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/golden.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

using Ids = std::vector<std::int32_t>;

class Words : public ::testing::Test {
 protected:
  Words() {
    write_bytes(folder_ / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nC\r\nO\n[nH]\nCl");
    tokenizer_ = load_tokenizer(folder_.path());
  }

  TemporaryFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(Words, OneIdAToken) {
  EXPECT_EQ(tokenizer_->encode("CClO[nH]").ids, (Ids{2, 5, 8, 6, 7, 3}));
  EXPECT_EQ(tokenizer_->decode(Ids{2, 5, 8, 6, 7, 3, 0, 0}), "CClO[nH]");
  EXPECT_EQ(tokenizer_->encode("C[MASK]O").ids, (Ids{2, 5, 4, 6, 3}));
  EXPECT_EQ(tokenizer_->encode("").ids, (Ids{2, 3}));
}

TEST_F(Words, UnknownTokensAreNamed) {
  const Encoded encoded = tokenizer_->encode("CBr[nH][PAD]O");
  EXPECT_EQ(encoded.ids, (Ids{2, 5, 1, 7, 1, 6, 3}));
  EXPECT_EQ(encoded.unknown, (std::vector<std::string>{"Br", "[PAD]"}));
  EXPECT_EQ(round_trip_problem(*tokenizer_, "CBr[nH][PAD]O", encoded),
            "not in the vocabulary: 'Br', '[PAD]'");
  EXPECT_EQ(tokenizer_->decode(encoded.ids), "C[UNK][nH][UNK]O");
}

TEST_F(Words, TextsThatAreNoSmilesAreRefused) {
  EXPECT_EQ(error_text<UserError>([&] { tokenizer_->encode("CC[MASK]x"); }),
            "character 9, 'x', begins no SMILES token");
  EXPECT_TRUE(says(error_text<UserError>([&] { tokenizer_->decode(Ids{2, 9}); }), {"token 9"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { tokenizer_->decode(Ids{-1}); }), {"token -1"}));
}

TEST(SmilesVocabulary, MostFrequentFirst) {
  SmilesVocabulary counts;
  for (const char* smiles : {"CCO", "CC(=O)N", "BrCN", "ClC"}) counts.add(smiles);
  const auto all = counts.train({});
  ASSERT_EQ(all->vocabulary().size(), 15 + 8);
  EXPECT_EQ(all->vocabulary().token(0), "[PAD]");
  EXPECT_EQ(all->vocabulary().token(10), "[unused10]");
  EXPECT_EQ(all->vocabulary().token(14), "[MASK]");
  const std::vector<std::string> expected = {"C", "N", "O", "(", ")", "=", "Br", "Cl"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(all->vocabulary().token(static_cast<std::int32_t>(15 + i)), expected[i]);
  }
  EXPECT_EQ(counts.train({17, 1})->vocabulary().size(), 17);
  EXPECT_EQ(counts.train({0, 2})->vocabulary().size(), 18);
  EXPECT_TRUE(says(error_text<UserError>([&] { counts.train({15, 1}); }), {"15", "no room"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { counts.add("C!"); }), {"character 2"}));
}

TEST(SmilesVocabulary, EveryRowOfTheDataSetComesBack) {
  SmilesVocabulary counts;
  const auto smiles = gap_smiles();
  for (const std::string& text : smiles) counts.add(text);
  const TemporaryFolder folder;
  counts.train({})->save(folder.path());
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->vocabulary().id(TokenRole::mask), 14);
  for (const std::string& text : smiles) {
    ASSERT_EQ(round_trip_problem(*tokenizer, text, tokenizer->encode(text)), "") << text;
  }
}

}  // namespace
}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/bpe_trainer.h"
#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

void expect_the_same(const Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  const std::string text = tokenizer_json(tokenizer);
  const auto back = tokenizer_from_json(text, "record");
  EXPECT_EQ(tokenizer_json(*back), text);
  EXPECT_EQ(back->kind(), tokenizer.kind());
  for (const TokenRole role : kTokenRoles) {
    EXPECT_EQ(back->vocabulary().id(role), tokenizer.vocabulary().id(role));
  }
  for (const std::string& sample : texts) {
    const auto ids = tokenizer.encode(sample).ids;
    EXPECT_EQ(back->encode(sample).ids, ids) << sample;
    EXPECT_EQ(back->decode(ids), tokenizer.decode(ids)) << sample;
  }
}

TEST(TokenizerRecord, KeepsWords) {
  expect_the_same(*words_of(some_smiles()), some_smiles());
  expect_the_same(*words_of(some_smiles()), {"[Se]", "C[MASK]O", ""});
}

TEST(TokenizerRecord, KeepsBytePairs) {
  BpeTrainer trainer;
  for (const std::string& smiles : some_smiles()) trainer.add(smiles);
  const auto tokenizer = trainer.train({.size = 320});
  ASSERT_GT(tokenizer->merges().size(), 10u);
  expect_the_same(*tokenizer, some_smiles());
  expect_the_same(*tokenizer, {"\xC3\xA4 \xFF", "two words", "<mask>c1"});
}

TEST(TokenizerRecord, KeepsAddedTokens) {
  TokenVocabulary vocabulary;
  for (const char* token : {"C", "O", "[UNK]", "<a>", "<ab>"}) vocabulary.add(token);
  vocabulary.set_role(TokenRole::unknown, 2);
  vocabulary.set_added(4);
  vocabulary.set_added(3);
  const WordTokenizer tokenizer(std::move(vocabulary));
  expect_the_same(tokenizer, {"C<ab>O<a>C", "N"});
}

TEST(TokenizerRecord, IsTheSameOfATokenizerThatWasInAFolder) {
  const testing::TemporaryFolder folder;
  SmilesVocabulary words;
  BpeTrainer trainer;
  for (const std::string& smiles : some_smiles()) {
    words.add(smiles);
    trainer.add(smiles);
  }
  const auto expect_same = [&](const Tokenizer& tokenizer) {
    tokenizer.save(folder.path());
    EXPECT_EQ(tokenizer_json(*load_tokenizer(folder.path())), tokenizer_json(tokenizer));
  };
  expect_same(*words.train({}));
  expect_same(*trainer.train({.size = 320}));
}

TEST(TokenizerRecord, BadTextIsNamed) {
  const auto refusal = [](const std::string& text) {
    return error_text<IoError>([&] { tokenizer_from_json(text, "file.h5"); });
  };
  const auto record = [](const std::string& members) {
    return R"({"kind":"byte_bpe","tokens":["a","b","ab"])" + members + "}";
  };
  EXPECT_EQ(refusal(record("")), "nothing was thrown");
  EXPECT_TRUE(says(refusal(""), {"file.h5", "parse error"}));
  EXPECT_TRUE(says(refusal("[]"), {"file.h5", "object"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"letters"})"), {"file.h5: kind", "letters"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"words"})"), {"no tokens"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"words","tokens":{}})"), {"tokens is not a list"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"words","tokens":["a",1]})"), {"tokens[1]"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"words","tokens":["a","a"]})"), {"tokens[1]", "twice"}));
  EXPECT_TRUE(says(refusal(record(R"(,"roles":[])")), {"roles"}));
  EXPECT_TRUE(says(refusal(record(R"(,"roles":{"mesk":1})")), {"roles.mesk"}));
  for (const char* id : {"3", "-1", "1.0", "\"a\"", "18446744073709551616"}) {
    EXPECT_TRUE(says(refusal(record(concat(R"(,"roles":{"mask":)", id, "}"))), {"roles.mask"}));
    EXPECT_TRUE(says(refusal(record(concat(R"(,"added":[)", id, "]"))), {"added"}));
    EXPECT_TRUE(says(refusal(record(concat(R"(,"merges":[[0,)", id, "]]"))), {"merges[0]"}));
  }
  EXPECT_TRUE(says(refusal(record(R"(,"merges":[[0,0]])")), {"merges[0]", "'aa'"}));
  EXPECT_TRUE(says(refusal(record(R"(,"merges":[[0,1],[0,1]])")), {"merges[1]", "merged above"}));
  EXPECT_TRUE(says(refusal(record(R"(,"merges":[[0,1,2]])")), {"merges[0]", "pair"}));
  EXPECT_TRUE(says(refusal(R"({"kind":"words","tokens":["a","b","ab"],"merges":[[0,1]]})"),
                   {"merges of words"}));
}

}  // namespace
}  // namespace moiety::data

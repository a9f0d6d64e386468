// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/file_seal.h"
#include "data/tokenizer_record.h"
#include "support/error_text.h"
#include "support/token_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class TokenDataset : public ::testing::Test {
 protected:
  TokenDataset() {
    write_token_dataset(tokens_, some_smiles());
    write_token_dataset(both_, some_smiles(), true);
  }

  TemporaryFolder folder_;
  std::string tokens_ = folder_ / "tokens.h5";
  std::string both_ = folder_ / "both.h5";
};

TEST_F(TokenDataset, HoldsWhatTheTokenizerSays) {
  const std::vector<std::string> smiles = some_smiles();
  const auto tokenizer = words_of(smiles);
  for (const std::string& path : {tokens_, both_}) {
    const Dataset dataset(path);
    const DatasetInfo& info = dataset.info();
    ASSERT_EQ(dataset.size(), std::ssize(smiles));
    EXPECT_TRUE(info.has_tokens);
    EXPECT_EQ(info.schema_version, 2);
    EXPECT_EQ(info.vocabulary, tokenizer->vocabulary().size());
    std::int64_t total = 0;
    std::int64_t longest = 0;
    for (std::int64_t m = 0; m < dataset.size(); ++m) {
      const auto expected = tokenizer->encode(smiles[static_cast<std::size_t>(m)]).ids;
      EXPECT_TRUE(std::ranges::equal(dataset.tokens(m), expected)) << m;
      total += std::ssize(expected);
      longest = std::max<std::int64_t>(longest, std::ssize(expected));
    }
    EXPECT_EQ(info.tokens, total);
    EXPECT_EQ(info.longest_tokens, longest);
    const auto stored = load_tokenizer_of(dataset);
    for (const std::string& text : smiles) {
      EXPECT_EQ(stored->encode(text).ids, tokenizer->encode(text).ids);
    }
    EXPECT_THROW(static_cast<void>(dataset.tokens(dataset.size())), ShapeError);
  }
}

TEST_F(TokenDataset, WithoutGraphsSaysSo) {
  const Dataset dataset(tokens_);
  EXPECT_FALSE(dataset.info().has_graphs);
  EXPECT_EQ(dataset.info().atoms, 0);
  EXPECT_TRUE(says(error_text<UserError>([&] { dataset.view(0); }), {"tokens.h5", "no graphs"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { dataset.atoms(0); }), {"tokens.h5", "no graphs"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { dataset.edges(0); }), {"tokens.h5", "no graphs"}));
  EXPECT_EQ(dataset.record(3).smiles, "CCO");
  EXPECT_TRUE(dataset.record(3).z.empty());
  EXPECT_TRUE(dataset.targets(3).empty());
  dataset.prefetch(dataset.split(Split::train));
}

TEST_F(TokenDataset, GraphsStandBesideTokens) {
  const Dataset dataset(both_);
  EXPECT_TRUE(dataset.info().has_graphs);
  for (const std::int64_t m : {0, 15, 29}) {
    const std::string smiles = some_smiles()[static_cast<std::size_t>(m)];
    EXPECT_EQ(dataset.record(m).x, Molecule(smiles).graph().x);
    EXPECT_EQ(dataset.targets(m)[0], static_cast<double>(m) / 2);
  }
}

TEST_F(TokenDataset, GraphsAloneHaveNoTokens) {
  write_dataset(folder_ / "graphs.h5", random_molecules(20, 1));
  const Dataset dataset(folder_ / "graphs.h5");
  EXPECT_EQ(dataset.info().schema_version, 1);
  EXPECT_FALSE(dataset.info().has_tokens);
  for (const auto& refusal : {error_text<UserError>([&] { static_cast<void>(dataset.tokens(0)); }),
                              error_text<UserError>([&] { load_tokenizer_of(dataset); })}) {
    EXPECT_TRUE(says(refusal, {"graphs.h5", "no tokens", "--tokenizer"}));
  }
}

TEST_F(TokenDataset, TheWriterRefusesWhatItCannotStore) {
  DatasetWriterOptions options;
  options.path = folder_ / "new.h5";
  MoleculeRecord record;
  record.smiles = "C";
  {
    DatasetWriter writer(options);
    writer.append(record);
    EXPECT_TRUE(says(error_text<UserError>([&] {
                       writer.finish({{0}, {}, {}});
                     }),
                     {"new.h5", "no tokens"}));
  }
  DatasetWriter writer(options);
  EXPECT_TRUE(says(error_text<UserError>([&] { writer.append(Molecule("CC").graph()); }),
                   {"tokens alone"}));
  record.smiles = "C[Se]C";
  writer.append(record);
  TokenVocabulary carbon;  // without an unknown token
  carbon.add("C");
  const WordTokenizer tokenizer(std::move(carbon));
  EXPECT_TRUE(says(error_text<UserError>([&] { writer.add_tokens(tokenizer); }),
                   {"new.h5", "molecule 0", "C[Se]C", "not in the vocabulary"}));
}

/// Files whose seal is right but whose tokens are not.
class ForgedTokens : public TokenDataset {
 protected:
  std::string refusal(const std::string& forged) {
    write_bytes(folder_ / "bad.h5", forged);
    auto sections = verify_seal(MappedFile(tokens_));
    std::erase_if(sections, [](const FileSection& s) { return s.name == kBetweenSections; });
    write_seal(folder_ / "bad.h5", sections);
    return error_text<IoError>([&] { const Dataset dataset(folder_ / "bad.h5"); });
  }
  template <class T>
  std::string refusal_with(const std::string& column, std::int64_t element, T value) {
    const auto sections = verify_seal(MappedFile(tokens_));
    const auto found = std::ranges::find(sections, column, &FileSection::name);
    std::string bytes = read_bytes(tokens_);
    std::memcpy(bytes.data() + found->offset + element * std::int64_t{sizeof value}, &value,
                sizeof value);
    return refusal(bytes);
  }
  std::string refusal_replacing(const std::string& text, const std::string& by) {
    std::string bytes = read_bytes(tokens_);
    bytes.replace(bytes.find(text), by.size(), by);
    return refusal(bytes);
  }
};

TEST_F(ForgedTokens, AreRefused) {
  const std::int64_t vocabulary = Dataset(tokens_).info().vocabulary;
  const auto next = static_cast<std::int32_t>(vocabulary);
  for (const std::int32_t id : {next, -1, 1 << 30}) {
    EXPECT_TRUE(says(refusal_with<std::int32_t>("/token/ids", 7, id),
                     {"bad.h5: /token: token 7", std::to_string(id), "vocabulary"}));
  }
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  for (const std::int64_t entry : {0, 7, 30}) {
    for (const std::int64_t value : {kHuge, std::int64_t{-1}}) {
      EXPECT_TRUE(
          says(refusal_with<std::int64_t>("/token/ptr", entry, value), {"bad.h5: /token/ptr"}));
    }
  }
  const std::int64_t total = Dataset(tokens_).info().tokens;
  EXPECT_TRUE(says(refusal_with<std::int64_t>("/token/ptr", 30, total + 1),
                   {"bad.h5: /token/ids", "shape"}));
  const std::int64_t first = std::ssize(Dataset(tokens_).tokens(0));
  EXPECT_TRUE(says(refusal_with<std::int64_t>("/token/ptr", 2, first),
                   {"bad.h5: /token", "molecule 1 has no tokens"}));
}

TEST_F(ForgedTokens, TheTokenizerIsReadWithCare) {
  const auto says_attribute = [](const std::string& text, const std::string& what) {
    return says(text, {"bad.h5: /token: attribute tokenizer", what});
  };
  EXPECT_TRUE(says_attribute(refusal_replacing("\"words\"", "\"wurds\""), "kind"));
  EXPECT_TRUE(says_attribute(refusal_replacing("{\"kind\"", "[\"kind\""), "parse error"));
  EXPECT_TRUE(says_attribute(refusal_replacing("\"mask\":14", "\"mask\":99"), "roles.mask"));
}

TEST_F(TokenDataset, TruncationIsRefused) {
  const std::string bytes = read_bytes(tokens_);
  Dice dice(5);
  for (int trial = 0; trial < 60; ++trial) {
    const auto length = static_cast<std::size_t>(dice.below(std::ssize(bytes)));
    write_bytes(folder_ / "cut.h5", bytes.substr(0, length));
    EXPECT_TRUE(says(error_text([&] { const Dataset dataset(folder_ / "cut.h5"); }), {"cut.h5"}));
  }
}

TEST_F(TokenDataset, ClassesAreZeroOrOne) {
  DatasetWriterOptions options;
  options.path = folder_ / "classes.h5";
  options.targets = {{"active", "", "binary"}};
  options.features = ogb_schema();
  DatasetWriter writer(options);
  MoleculeRecord record = Molecule("C").graph();
  record.y = {0.5};
  EXPECT_TRUE(says(error_text<UserError>([&] { writer.append(record); }),
                   {"target active is 0.5", "neither 0 nor 1"}));
}

}  // namespace
}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "data/bpe_trainer.h"
#include "data/byte_level.h"
#include "support/dataset_files.h"
#include "support/error_text.h"
#include "support/golden.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

std::vector<std::string> strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

/// tests/golden/tokenizers.json comes from tests/reference/tokenizers_golden.py.
class ByteBpe : public ::testing::Test {
 protected:
  ByteBpe() {
    for (const char* name : {"vocab.json", "merges.txt"}) {
      write_bytes(folder_ / name, golden_[name].get<std::string>());
    }
  }

  const nlohmann::json golden_ = read_golden("tokenizers.json");
  TemporaryFolder folder_;
};

TEST_F(ByteBpe, PiecesOfTheReference) {
  for (const auto& row : golden_["texts"]) {
    const auto text = row["text"].get<std::string>();
    EXPECT_EQ(strings(gpt2_pieces(text)), row["pieces"].get<std::vector<std::string>>());
  }
}

TEST_F(ByteBpe, IdsOfTheReference) {
  const auto tokenizer = load_tokenizer(folder_.path());
  EXPECT_GE(golden_["texts"].size(), 35u);
  for (const auto& row : golden_["texts"]) {
    const auto text = row["text"].get<std::string>();
    const Encoded encoded = tokenizer->encode(text);
    EXPECT_EQ(encoded.ids, row["ids"].get<std::vector<std::int32_t>>()) << text;
    EXPECT_EQ(tokenizer->decode(encoded.ids), text);
    EXPECT_TRUE(encoded.unknown.empty());
  }
}

TEST_F(ByteBpe, TrainingGivesTheReferenceVocabulary) {
  const auto smiles = gap_smiles();
  BpeTrainer trainer;
  for (std::size_t i = 0; i < golden_["rows"].get<std::size_t>(); ++i) trainer.add(smiles[i]);
  trainer.train({golden_["size"], golden_["min_frequency"]})->save(folder_ / "trained");
  EXPECT_EQ(read_bytes(folder_ / "trained/vocab.json"), golden_["vocab.json"]);
  EXPECT_EQ(read_bytes(folder_ / "trained/merges.txt"), golden_["merges.txt"]);

  const auto smaller = trainer.train({300, 1});
  EXPECT_EQ(smaller->vocabulary().size(), 300);
  EXPECT_EQ(smaller->vocabulary().token(299),
            load_tokenizer(folder_.path())->vocabulary().token(299));
  EXPECT_TRUE(says(error_text<UserError>([&] { trainer.train({260, 1}); }), {"260", "261"}));
}

TEST_F(ByteBpe, SavedAndLoadedIsTheSame) {
  const auto first = load_tokenizer(folder_.path());
  first->save(folder_ / "a/b");
  const auto second = load_tokenizer(folder_ / "a/b");
  for (const TokenRole role : kTokenRoles) {
    EXPECT_EQ(second->vocabulary().id(role), first->vocabulary().id(role)) << name_of(role);
    EXPECT_TRUE(second->vocabulary().id(role)) << name_of(role);
  }
  EXPECT_EQ(second->encode("CC(=O)<mask>").ids, first->encode("CC(=O)<mask>").ids);
}

TEST_F(ByteBpe, ReadsTokenizerJson) {
  nlohmann::json json = {{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}};
  json["model"] = {{"type", "BPE"},
                   {"vocab", nlohmann::json::parse(golden_["vocab.json"].get<std::string>())},
                   {"merges", nlohmann::json::array()}};
  json["added_tokens"] = {{{"id", 402}, {"content", "Cl"}}};
  std::istringstream lines(golden_["merges.txt"].get<std::string>());
  std::string left, right;
  std::getline(lines, left);
  for (bool pair = true; lines >> left >> right; pair = !pair) {
    auto& merges = json["model"]["merges"];
    pair ? merges.push_back({left, right}) : merges.push_back(left + " " + right);
  }
  std::filesystem::create_directory(folder_ / "json");
  write_bytes(folder_ / "json/tokenizer.json", json.dump());
  const auto tokenizer = load_tokenizer(folder_ / "json");
  for (const auto& row : golden_["texts"]) {
    const auto text = row["text"].get<std::string>();
    if (text.find("Cl") != std::string::npos) continue;
    EXPECT_EQ(tokenizer->encode(text).ids, row["ids"].get<std::vector<std::int32_t>>()) << text;
  }
  EXPECT_EQ(tokenizer->encode("ClC<mask>").ids, (std::vector<std::int32_t>{0, 402, 39, 4, 2}));
}

TEST_F(ByteBpe, EveryRowOfTheDataSetComesBack) {
  const auto tokenizer = load_tokenizer(folder_.path());
  for (const std::string& smiles : gap_smiles()) {
    ASSERT_EQ(round_trip_problem(*tokenizer, smiles, tokenizer->encode(smiles)), "") << smiles;
  }
}

TEST_F(ByteBpe, AnyBytesComeBack) {
  const auto tokenizer = load_tokenizer(folder_.path());
  Dice dice(5);
  const std::vector<std::string> parts = {"</s>", "<s>", "<pad>", "<unk>", "<mask>", " ", "\n"};
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text;
    for (std::int64_t i = dice.below(20); i > 0; --i) {
      text += dice.below(3) == 0 ? parts[static_cast<std::size_t>(dice.below(std::ssize(parts)))]
                                 : std::string(1, static_cast<char>(dice.below(256)));
    }
    const Encoded encoded = tokenizer->encode(text);
    ASSERT_EQ(tokenizer->decode(encoded.ids), text);
    const std::multiset<std::int32_t> ids(encoded.ids.begin(), encoded.ids.end());
    ASSERT_EQ(ids.count(0) + ids.count(1) + ids.count(2) + ids.count(3), 2u) << "spelled: " << text;
  }
}

TEST_F(ByteBpe, LongRunsTakeNoQuadraticTime) {
  BpeTrainer trainer;
  trainer.add(std::string(1 << 20, 'C'));
  const auto tokenizer = trainer.train({270, 1});
  const std::string text((1 << 20) + 7, 'C');
  const Encoded encoded = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(encoded.ids), text);
  EXPECT_LT(encoded.ids.size(), text.size() / 500);
}

TEST_F(ByteBpe, MergesNeverSpellASpecialToken) {
  write_bytes(folder_ / "vocab.json", R"({"C":0,"CC":1,"CCC":2,"N":3})");
  write_bytes(folder_ / "merges.txt", "C C\nCC C\n");
  write_bytes(folder_ / "special_tokens_map.json", R"({"pad_token":"CCC","eos_token":"N"})");
  const auto tokenizer = load_tokenizer(folder_.path());
  EXPECT_EQ(tokenizer->encode("CCC").ids, (std::vector<std::int32_t>{1, 0, 3}));
  EXPECT_TRUE(says(error_text<UserError>([&] { tokenizer->encode("CN"); }), {"character 2, 'N'"}));
}

TEST_F(ByteBpe, UnknownBytesAreNamed) {
  write_bytes(folder_ / "vocab.json", R"({"[PAD]":0,"[UNK]":1,"C":2,"l":3,"Cl":4,"[MASK]":5})");
  write_bytes(folder_ / "merges.txt", "#version: 0.2\nC l\n");
  const auto tokenizer = load_tokenizer(folder_.path());
  const Encoded encoded = tokenizer->encode("CClOC[MASK]");
  EXPECT_EQ(encoded.ids, (std::vector<std::int32_t>{2, 4, 1, 2, 5}));
  EXPECT_EQ(encoded.unknown, std::vector<std::string>{"O"});
  EXPECT_EQ(round_trip_problem(*tokenizer, "CClOC[MASK]", encoded), "not in the vocabulary: 'O'");
  EXPECT_EQ(tokenizer->decode(encoded.ids), "CCl[UNK]C[MASK]");

  write_bytes(folder_ / "vocab.json", R"({"C":0,"l":1,"Cl":2})");
  EXPECT_EQ(error_text<UserError>([&] { load_tokenizer(folder_.path())->encode("CClO"); }),
            "character 4, 'O', is not in the vocabulary, which has no unknown token");
}

TEST_F(ByteBpe, AddedTokensAreCutOutFirst) {
  write_bytes(folder_ / "vocab.json", R"({"C":0,"l":1,"[":2,"[UNK]":3})");
  write_bytes(folder_ / "merges.txt", "");
  write_bytes(folder_ / "added_tokens.json", R"({"Cl":4})");
  write_bytes(folder_ / "tokenizer_config.json",
              R"({"unk_token":{"content":"[UNK]"},"pad_token":null,"mask_token":"<m>",
                  "added_tokens_decoder":{"5":{"content":"<m>"},"6":{"content":"Cl["}}})");
  const auto tokenizer = load_tokenizer(folder_.path());
  EXPECT_EQ(tokenizer->encode("CCl[ClC<m>").ids, (std::vector<std::int32_t>{0, 6, 4, 0, 5}));
  EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{0, 6, 4, 0, 5}), "CCl[ClC<m>");
}

}  // namespace
}  // namespace moiety::data

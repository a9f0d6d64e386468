// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/bpe_trainer.h"
#include "data/word_tokenizer.h"
#include "support/dataset_files.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

using Files = std::map<std::string, std::string>;

/// Why a folder of these files is refused.
std::string refusal(const Files& files) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : files) write_bytes(folder / name, content);
  return error_text<IoError>([&] { load_tokenizer(folder.path()); });
}

std::string bpe_refusal(const std::string& vocab, const std::string& merges = "") {
  return refusal({{"vocab.json", vocab}, {"merges.txt", merges}});
}

std::string config_refusal(const std::string& config) {
  return refusal({{"vocab.txt", "[PAD]\nC\n"}, {"tokenizer_config.json", config}});
}

TEST(TokenizerFiles, VocabJson) {
  EXPECT_TRUE(says(bpe_refusal(R"({"a":0,"b":0})"), {"vocab.json", "'a' and 'b'", "same id 0"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":0,"b":2})"), {"vocab.json", "'b'", "id 2", "0 to 1"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":-1})"), {"vocab.json", "'a'", "id -1"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":1e99})"), {"vocab.json", "'a'"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":18446744073709551615})"), {"vocab.json", "'a'"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":"0"})"), {"vocab.json", "'a'"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":{"b":0}})"), {"vocab.json", "'a'"}));
  EXPECT_TRUE(says(bpe_refusal(R"({"a":0,"b":1,"a":2})"), {"vocab.json", "\"a\"", "twice"}));
  EXPECT_TRUE(says(bpe_refusal("[1]"), {"vocab.json", "not a vocabulary"}));
  EXPECT_TRUE(says(bpe_refusal("{}"), {"vocab.json", "not a vocabulary"}));
  EXPECT_TRUE(says(bpe_refusal(""), {"vocab.json", "line 1"}));
  EXPECT_TRUE(says(bpe_refusal("{\n\"a\":0,,"), {"vocab.json", "line 2, column 7"}));
  EXPECT_TRUE(says(bpe_refusal("{\"\xFF\":0}"), {"vocab.json", "line 1", "UTF-8"}));
  EXPECT_TRUE(says(bpe_refusal(std::string(100'000, '[')), {"vocab.json", "64 deep"}));
}

TEST(TokenizerFiles, Merges) {
  const std::string vocab = R"({"a":0,"b":1,"ab":2,"Ġ":3})";
  EXPECT_EQ(bpe_refusal(vocab, "#version: 0.2\na b\r\n"), "nothing was thrown");
  EXPECT_TRUE(says(bpe_refusal(vocab, "a b\na c\n"), {"merges.txt:2", "'c'", "not in the voc"}));
  EXPECT_TRUE(says(bpe_refusal(vocab, "b a\n"), {"merges.txt:1", "'ba'", "not in the voc"}));
  EXPECT_TRUE(says(bpe_refusal(vocab, "a b\na b\n"), {"merges.txt:2", "above"}));
  for (const char* line : {"a", "a ", " b", "a  b", "a b a", "", "a\tb"}) {
    EXPECT_TRUE(says(bpe_refusal(vocab, std::string(line) + "\na b"), {"merges.txt:1", "two"}));
  }
  EXPECT_TRUE(says(bpe_refusal(vocab, "a b\na \xC3\n"), {"merges.txt:2", "UTF-8"}));
}

TEST(TokenizerFiles, VocabTxt) {
  EXPECT_TRUE(says(refusal({{"vocab.txt", "C\nO\nC\n"}}), {"vocab.txt:3", "'C'", "line 1"}));
  EXPECT_TRUE(says(refusal({{"vocab.txt", "C\n\nO\n"}}), {"vocab.txt:2", "empty line"}));
  EXPECT_TRUE(says(refusal({{"vocab.txt", "C\nO\xFF\n"}}), {"vocab.txt:2", "UTF-8"}));
  EXPECT_TRUE(says(refusal({{"vocab.txt", ""}}), {"vocab.txt", "empty"}));
}

TEST(TokenizerFiles, SpecialTokens) {
  EXPECT_EQ(config_refusal(R"({"pad_token":{"content":"[PAD]"},"mask_token":null})"),
            "nothing was thrown");
  const std::string name = "tokenizer_config.json: ";
  EXPECT_TRUE(says(config_refusal("[]"), {"tokenizer_config.json", "object"}));
  EXPECT_TRUE(says(config_refusal(R"({"pad_token":3})"), {name, "pad_token"}));
  EXPECT_TRUE(says(config_refusal(R"({"pad_token":""})"), {name, "pad_token"}));
  EXPECT_TRUE(says(config_refusal(R"({"cls_token":{"x":1}})"), {name, "cls_token"}));
  EXPECT_TRUE(says(config_refusal(R"({"unk_token":"<u>"})"), {name, "unk_token", "'<u>'"}));
  EXPECT_TRUE(says(config_refusal(R"({"add_prefix_space":true})"), {name, "add_prefix_space"}));
  EXPECT_TRUE(says(config_refusal(R"({"added_tokens_decoder":[]})"), {name, "added_tokens_dec"}));
  const auto added = [](const std::string& tokens) {
    return config_refusal("{\"added_tokens_decoder\":{" + tokens + "}}");
  };
  EXPECT_EQ(added(R"("3":{"content":"Br"},"2":{"content":"Cl"},"1":{"content":"C"})"),
            "nothing was thrown");
  EXPECT_TRUE(says(added(R"("x":{"content":"Br"})"), {name, "added_tokens_decoder.x"}));
  EXPECT_TRUE(says(added(R"("1e1":{"content":"Br"})"), {name, "added_tokens_decoder.1e1"}));
  EXPECT_TRUE(says(added(R"("99999999999":{"content":"Br"})"), {name, "99999999999"}));
  EXPECT_TRUE(says(added(R"("2":{})"), {name, "added_tokens_decoder.2"}));
  EXPECT_TRUE(says(added(R"("3":{"content":"Br"})"), {name, "'Br'", "id 3", "free one is 2"}));
  EXPECT_TRUE(says(added(R"("0":{"content":"C"})"), {name, "'C'", "id 0", "has the id 1"}));
  EXPECT_TRUE(says(added(R"("1":{"content":"Br"})"), {name, "'Br'", "id 1"}));
  EXPECT_TRUE(says(added(R"("2":{"content":"Br"},"02":{"content":"I"})"), {name, "'Br'", "'I'"}));
  const auto legacy = [](const std::string& json) {
    return refusal({{"vocab.txt", "[PAD]\nC\n"}, {"added_tokens.json", json}});
  };
  EXPECT_EQ(legacy(R"({"Br":2})"), "nothing was thrown");
  EXPECT_TRUE(says(legacy(R"({"Br":-2})"), {"added_tokens.json", "'Br'", "id -2"}));
  EXPECT_TRUE(says(legacy(R"({"Br":4})"), {"added_tokens.json", "'Br'", "id 4"}));
}

TEST(TokenizerFiles, TokenizerJson) {
  const auto json = [](const std::string& content) {
    return refusal({{"tokenizer.json", content}});
  };
  const auto bpe = [&](const std::string& model, const std::string& more = "") {
    return json(R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"model":{)" +
                model + "}" + more + "}");
  };
  const std::string vocab = R"("type":"BPE","vocab":{"a":0,"b":1,"ab":2},)";
  EXPECT_EQ(bpe(vocab + R"("merges":["a b"])"), "nothing was thrown");
  EXPECT_TRUE(says(json("[]"), {"tokenizer.json", "model"}));
  EXPECT_TRUE(says(json(R"({"model":3})"), {"tokenizer.json", "model"}));
  EXPECT_TRUE(says(bpe(R"("type":"Unigram")"), {"tokenizer.json: model.type", "Unigram"}));
  EXPECT_TRUE(says(bpe(R"("type":["BPE"])"), {"tokenizer.json: model.type"}));
  EXPECT_TRUE(says(bpe(R"("type":"BPE","merges":[])"), {"tokenizer.json: model.vocab"}));
  EXPECT_TRUE(says(bpe(R"("type":"BPE","vocab":{"a":1})"), {"tokenizer.json: model.vocab", "'a'"}));
  EXPECT_TRUE(says(bpe(vocab + R"("merges":{})"), {"tokenizer.json: model.merges", "list"}));
  for (const char* merge : {"3", "\"ab\"", "[\"a\"]", "[\"a\",1]"}) {
    EXPECT_TRUE(says(bpe(vocab + "\"merges\":[\"a b\"," + merge + "]"),
                     {"tokenizer.json: model.merges[1]", "two tokens"}));
  }
  EXPECT_TRUE(says(bpe(vocab + R"("merges":["b a"])"), {"model.merges[0]", "'ba'"}));
  const std::string good = vocab + R"("merges":[])";
  EXPECT_TRUE(says(bpe(good, R"(,"normalizer":{"type":"NFC"})"), {"tokenizer.json: normalizer"}));
  EXPECT_TRUE(says(bpe(good, R"(,"added_tokens":{})"), {"nothing"}));
  EXPECT_TRUE(says(bpe(good, R"(,"added_tokens":[{"id":3}])"), {"json: added_tokens[0]"}));
  EXPECT_TRUE(says(bpe(good, R"(,"added_tokens":[{"content":"x"}])"), {"json: added_tokens[0]"}));
  EXPECT_TRUE(says(bpe(good, R"(,"added_tokens":["x"])"), {"json: added_tokens[0]"}));
  EXPECT_TRUE(says(json("{\"model\":{" + good + "}}"), {"tokenizer.json: pre_tokenizer"}));
  EXPECT_TRUE(says(json(R"({"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel"}})"),
                   {"tokenizer.json: pre_tokenizer", "SMILES"}));
}

TEST(TokenizerFiles, MissingAndTooLarge) {
  const TemporaryFolder folder;
  const auto missing = [&] {
    return error_text<UserError>([&] { load_tokenizer(folder.path()); });
  };
  EXPECT_TRUE(says(missing(), {"vocab.json", "vocab.txt"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { load_tokenizer(folder / "none"); }), {"none"}));
  write_bytes(folder / "vocab.json", R"({"a":0})");
  EXPECT_TRUE(says(missing(), {"merges.txt"}));
  std::filesystem::create_directory(folder / "merges.txt");
  EXPECT_TRUE(says(missing(), {"merges.txt"}));
  std::filesystem::resize_file(folder / "vocab.json", kLargestTokenizerFile + 1);
  EXPECT_TRUE(says(error_text<IoError>([&] { load_tokenizer(folder.path()); }),
                   {"vocab.json", "67108865 bytes"}));
  write_bytes(folder / "file", "");
  EXPECT_TRUE(says(
      error_text<IoError>([&] { SmilesVocabulary().train({})->save(folder / "file"); }), {"file"}));
}

TEST(TokenizerFiles, ValuesInEachOtherWithoutEnd) {
  const TemporaryFolder folder;
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');
  const auto refusal = [&](const char* file, const std::string& text) {
    write_bytes(folder / file, text);
    const std::string error = error_text<IoError>([&] { load_tokenizer(folder.path()); });
    std::filesystem::remove(folder / file);
    return error;
  };
  EXPECT_TRUE(says(refusal("tokenizer.json", "{\"model\":{\"type\":" + deep + "}}"),
                   {"tokenizer.json", "64 deep"}));
  write_bytes(folder / "merges.txt", "");
  EXPECT_TRUE(says(refusal("vocab.json", "{\"a\":" + deep + "}"), {"vocab.json", "64 deep"}));
}

/// Loads or refuses by name what has been damaged at random; what is loaded works.
class DamagedTokenizer : public ::testing::TestWithParam<const char*> {
 protected:
  DamagedTokenizer() {
    SmilesVocabulary words;
    BpeTrainer merges;
    for (const char* smiles : {"CCO", "CC(=O)N", "[nH]1cccc1", "BrCN"}) {
      words.add(smiles);
      merges.add(smiles);
    }
    const std::string file = GetParam();
    if (file == "vocab.txt" || file == "tokenizer.json") {
      words.train({})->save(folder_.path());
      if (file == "tokenizer.json") std::filesystem::remove(folder_ / "vocab.txt");
    } else {
      merges.train({265, 1})->save(folder_.path());
    }
    path_ = folder_ / file;
    bytes_ = read_bytes(path_);
  }

  void try_with(const std::string& bytes) {
    write_bytes(path_, bytes);
    try {
      const auto tokenizer = load_tokenizer(folder_.path());
      const std::string smiles = "C(=O)Br[nH]";
      const Encoded encoded = tokenizer->encode(smiles);
      if (encoded.unknown.empty()) {
        EXPECT_EQ(tokenizer->decode(encoded.ids), smiles);
      }
    } catch (const IoError& error) {
      EXPECT_TRUE(says(error.what(), {folder_.path().string()}));
    } catch (const UserError& error) {
      EXPECT_TRUE(says(error.what(), {"no unknown token"}));
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  std::string bytes_;
};

TEST_P(DamagedTokenizer, IsRefusedByNameOrWorks) {
  constexpr int kTrials = 400;
  Dice dice(6);
  const auto place = [&] { return static_cast<std::size_t>(dice.below(std::ssize(bytes_))); };
  for (int trial = 0; trial < kTrials; ++trial) {
    try_with(bytes_.substr(0, place()));
    std::string flipped = bytes_;
    auto& byte = flipped[place()];
    byte = static_cast<char>(byte ^ (1 << dice.below(8)));
    try_with(flipped);
    std::string moved = bytes_;
    const std::size_t from = place();
    moved.insert(place(), bytes_.substr(from, static_cast<std::size_t>(dice.below(20))));
    try_with(moved);
    std::string shorter = bytes_;
    shorter.erase(place(), static_cast<std::size_t>(1 + dice.below(20)));
    try_with(shorter);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedTokenizer,
                         ::testing::Values("vocab.json", "merges.txt", "vocab.txt",
                                           "tokenizer_config.json", "tokenizer.json"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace moiety::data

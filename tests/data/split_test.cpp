// SPDX-License-Identifier: Apache-2.0
#include "data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests
using Rows = std::vector<std::int64_t>;

Rows all_of(const SplitIndices& splits) {
  Rows all = splits.train;
  all.insert(all.end(), splits.valid.begin(), splits.valid.end());
  all.insert(all.end(), splits.test.begin(), splits.test.end());
  std::sort(all.begin(), all.end());
  return all;
}

Rows first(std::int64_t count) {
  Rows rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i);
  return rows;
}

TEST(RandomSplit, DealsOutEveryMoleculeOnce) {
  const SplitIndices splits = random_split(1005, 7);
  EXPECT_EQ(splits.valid.size(), 101u);
  EXPECT_EQ(splits.test.size(), 101u);
  EXPECT_EQ(splits.train.size(), 803u);
  EXPECT_EQ(all_of(splits), first(1005));
  EXPECT_TRUE(std::is_sorted(splits.train.begin(), splits.train.end()));
}

TEST(RandomSplit, DependsOnTheSeedAlone) {
  EXPECT_EQ(random_split(100, 3).test, random_split(100, 3).test);
  EXPECT_NE(random_split(100, 3).test, random_split(100, 4).test);
  EXPECT_EQ(random_split(10, 0).test, Rows{2});
  EXPECT_EQ(random_split(10, 0).valid, Rows{3});
}

TEST(RandomSplit, SmallAndOddShares) {
  EXPECT_EQ(random_split(3, 0).train.size(), 1u);
  const SplitIndices halves = random_split(10, 0, {0.5, 0, 0.5});
  EXPECT_TRUE(halves.valid.empty());
  EXPECT_EQ(halves.test.size(), 5u);
  EXPECT_TRUE(says(error_text<UserError>([] { random_split(2, 0); }), {"'train'", "only 2"}));
  EXPECT_THROW(random_split(10, 0, {0.5, 0.1, 0.1}), UserError);
  EXPECT_THROW(random_split(10, 0, {0, 0.5, 0.5}), UserError);
  EXPECT_THROW(random_split(10, 0, {1.5, -0.5, 0}), UserError);
}

TEST(ScaffoldSplit, KeepsScaffoldsTogether) {
  std::vector<std::string> scaffolds(10, "a");
  scaffolds[3] = "b";
  scaffolds[7] = "c";
  const SplitIndices splits = scaffold_split(scaffolds);
  EXPECT_EQ(splits.train, (Rows{0, 1, 2, 4, 5, 6, 8, 9}));
  EXPECT_EQ(splits.valid, Rows{7});
  EXPECT_EQ(splits.test, Rows{3});
  EXPECT_TRUE(says(error_text<UserError>([] { scaffold_split(std::vector<std::string>(9)); }),
                   {"'train'", "1 scaffolds"}));
}

TEST(LabelSplit, ReadsTheUsualWords) {
  EXPECT_EQ(split_label("Train"), Split::train);
  for (const char* word : {"valid", "val", "Validation", "dev"}) {
    EXPECT_EQ(split_label(word), Split::valid) << word;
  }
  EXPECT_EQ(split_label(" test "), Split::test);
  EXPECT_EQ(split_label("3"), std::nullopt);
}

TEST(LabelSplit, PutsEachWhereItSays) {
  const std::vector<std::optional<Split>> labels = {Split::test, Split::train, std::nullopt,
                                                    Split::valid, Split::train};
  const SplitIndices splits = label_split(labels);
  EXPECT_EQ(splits.train, (Rows{1, 4}));
  EXPECT_EQ(splits.valid, Rows{3});
  EXPECT_EQ(splits.test, Rows{0});
  const std::vector<std::optional<Split>> lacking = {Split::test, Split::train};
  EXPECT_TRUE(says(error_text<UserError>([&] { label_split(lacking); }), {"'valid'"}));
}

class SplitFile : public ::testing::Test {
 protected:
  SplitIndices read(const std::string& name, const std::string& content) {
    write_bytes(folder_ / name, content);
    return read_split_file(folder_ / name);
  }
  std::string refusal(const std::string& name, const std::string& content) {
    return error_text<UserError>([&] { read(name, content); });
  }
  TemporaryFolder folder_;
};

TEST_F(SplitFile, JsonAndTable) {
  for (const SplitIndices& splits :
       {read("s.json", R"({"train": [4, 0], "valid": [1], "test": [3]})"),
        read("s.csv", "row,split\n4,train\n1,val\n0,train\n3,test\n")}) {
    EXPECT_EQ(splits.train, (Rows{4, 0}));
    EXPECT_EQ(splits.valid, Rows{1});
    EXPECT_EQ(splits.test, Rows{3});
  }
}

TEST_F(SplitFile, RefusesOverlapsAndNonsense) {
  EXPECT_TRUE(says(refusal("s.json", R"({"train": [1, 2], "valid": [2], "test": [3]})"),
                   {"s.json", "row 2 twice"}));
  EXPECT_TRUE(says(refusal("s.json", R"({"train": [1, )"), {"s.json", "not JSON"}));
  EXPECT_TRUE(says(refusal("s.json", "[1]"), {"s.json", "object"}));
  EXPECT_TRUE(says(refusal("s.json", R"({"training_rows": [1]})"), {"'training_rows'"}));
  EXPECT_TRUE(says(refusal("s.json", R"({"train": ["x"]})"), {"not a row number"}));
  EXPECT_TRUE(says(refusal("s.csv", "row,split\n1.5,train\n"), {"s.csv:2", "'1.5'"}));
  EXPECT_TRUE(says(refusal("s.csv", "row,split\n1,fold3\n"), {"s.csv:2", "'fold3'"}));
  EXPECT_TRUE(says(refusal("s.csv", "index,split\n1,train\n"), {"no column 'row'"}));
}

TEST_F(SplitFile, RowsOfTheSourceBecomeMolecules) {
  const std::vector<std::int64_t> molecule_of_row = {0, -1, 1, 2, 3};
  const SplitIndices splits =
      rows_to_molecules({{0, 1}, {4, 2}, {3}}, molecule_of_row, "splits.json");
  EXPECT_EQ(splits.train, Rows{0}) << "row 1 was rejected";
  EXPECT_EQ(splits.valid, (Rows{1, 3}));
  EXPECT_EQ(splits.test, Rows{2});
  EXPECT_TRUE(says(error_text<UserError>([&] {
                     rows_to_molecules({{5}, {0}, {2}}, molecule_of_row, "splits.json");
                   }),
                   {"splits.json", "row 5", "0 to 4"}));
  EXPECT_TRUE(says(error_text<UserError>([&] {
                     rows_to_molecules({{0}, {1}, {2}}, molecule_of_row, "splits.json");
                   }),
                   {"'valid'", "splits.json"}));
}

}  // namespace
}  // namespace moiety::data

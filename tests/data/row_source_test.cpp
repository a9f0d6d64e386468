// SPDX-License-Identifier: Apache-2.0
#include "data/row_source.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

std::vector<SourceRow> read_all(const std::filesystem::path& path, const SourceColumns& columns) {
  const auto source = open_source(path, columns);
  std::vector<SourceRow> rows;
  for (SourceRow row; source->next(row);) rows.push_back(row);
  EXPECT_EQ(source->bytes_read(), static_cast<std::int64_t>(std::filesystem::file_size(path)));
  return rows;
}

TEST(RowSource, LinesOfSmiles) {
  const TemporaryFolder folder;
  write_bytes(folder / "m.smi",
              "CCO ethanol\r\n\nC\n  c1ccccc1\tbenzene ring \nCO |(0,1,;2,3,)| methanol\nN |x|");
  const auto rows = read_all(folder / "m.smi", {});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].smiles, "CCO");
  EXPECT_EQ(rows[0].id, "ethanol");
  EXPECT_EQ(rows[1].line, 3);
  EXPECT_EQ(rows[1].id, "");
  EXPECT_EQ(rows[2].smiles, "c1ccccc1");
  EXPECT_EQ(rows[2].id, "benzene ring");
  EXPECT_EQ(rows[3].smiles, "CO");
  EXPECT_EQ(rows[3].id, "methanol");
  EXPECT_EQ(rows[4].id, "");
}

TEST(RowSource, ColumnsOfATable) {
  const TemporaryFolder folder;
  write_bytes(folder / "m.csv", "name,SMILES,gap,set\nw, O ,1.5,train\n\"bad\nq,C\nm,C,,test\n");
  const auto rows =
      read_all(folder / "m.csv",
               {.smiles = "", .id = "name", .targets = {"gap"}, .split = "set", .delimiter = 0});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].smiles, "O");
  EXPECT_EQ(rows[0].id, "w");
  EXPECT_EQ(rows[0].targets, std::vector<std::string>{"1.5"});
  EXPECT_EQ(rows[0].split, "train");
  EXPECT_NE(rows[1].problem, "");
  EXPECT_EQ(rows[2].problem, "2 fields where the header has 4");
  EXPECT_EQ(rows[2].smiles, "C") << "what could be read helps to find the row";
  EXPECT_EQ(rows[3].targets, std::vector<std::string>{""});
}

TEST(RowSource, GuessesTheColumnOfSmiles) {
  EXPECT_EQ(guess_smiles_column({"id", "mol", "Smiles"}, "t.csv"), "Smiles");
  EXPECT_EQ(guess_smiles_column({"mol", "Canonical_SMILES"}, "t.csv"), "Canonical_SMILES");
  EXPECT_EQ(guess_smiles_column({"gap", "mol"}, "t.csv"), "mol");
  EXPECT_TRUE(says(error_text<UserError>([] {
                     guess_smiles_column({"a", "b"}, "t.csv");
                   }),
                   {"t.csv", "'a', 'b'"}));
}

TEST(RowSource, RefusesOtherFormats) {
  const TemporaryFolder folder;
  write_bytes(folder / "m.sdf", "x");
  write_bytes(folder / "m.smi", "C\n");
  EXPECT_TRUE(
      says(error_text<UserError>([&] { open_source(folder / "m.sdf", {}); }), {"m.sdf", ".csv"}));
  SourceColumns targets;
  targets.targets = {"gap"};
  EXPECT_TRUE(says(error_text<UserError>([&] { open_source(folder / "m.smi", targets); }),
                   {"m.smi", "table"}));
}

}  // namespace
}  // namespace moiety::data

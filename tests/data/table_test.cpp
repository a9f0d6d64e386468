// SPDX-License-Identifier: Apache-2.0
#include "data/table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

/// Every row as "line: field/field" or "line! problem".
std::vector<std::string> read_all(const std::string& content, char delimiter = 0) {
  const TemporaryFolder folder;
  write_bytes(folder / "t.csv", content);
  TableReader table(folder / "t.csv", delimiter);
  std::vector<std::string> out;
  for (TableRow row; table.next(row);) {
    std::string text = std::to_string(row.line) + (row.problem.empty() ? ":" : "! " + row.problem);
    if (row.problem.empty()) {
      for (const std::string& field : row.fields) text += " <" + field + ">";
    }
    out.push_back(text);
  }
  return out;
}

using Rows = std::vector<std::string>;

TEST(TableReader, DetectsTheDelimiterOfTheHeader) {
  for (const std::string d : {",", "\t", ";", "|", " "}) {
    EXPECT_EQ(read_all("smiles" + d + "gap\nCC" + d + "1\n"), Rows{"2: <CC> <1>"}) << d;
  }
  EXPECT_EQ(read_all("smiles;\"gap, in eV\"\nCC;1\n"), Rows{"2: <CC> <1>"});
  EXPECT_EQ(read_all("Compound ID,log solubility\na b,1\n"), Rows{"2: <a b> <1>"});
  EXPECT_EQ(read_all("smiles\nCC\n"), Rows{"2: <CC>"});
  EXPECT_EQ(read_all("a b,c\n1 2,3\n", ' '), Rows{"2: <1> <2,3>"});
}

TEST(TableReader, QuotedFieldsHoldDelimitersQuotesAndLineEnds) {
  EXPECT_EQ(read_all("a,b\n\"x,y\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n\"\",4\n"),
            (Rows{"2: <x,y> <1>", "3: <say \"hi\"> <2>", "4: <two\nlines> <3>", "6: <> <4>"}));
}

TEST(TableReader, AnyLineEndAndBlankLines) {
  EXPECT_EQ(read_all("a,b\r\nx,1\r\n\r\ny,2\n\n  \nz,3\rw,4"),
            (Rows{"2: <x> <1>", "4: <y> <2>", "7: <z> <3>", "8: <w> <4>"}));
  EXPECT_EQ(read_all("\n\r\na,b\n1,2\n"), Rows{"4: <1> <2>"});
}

TEST(TableReader, SkipsTheByteOrderMark) {
  const TemporaryFolder folder;
  write_bytes(folder / "t.csv", "\xEF\xBB\xBFsmiles,gap\nC,1\n");
  TableReader table(folder / "t.csv");
  EXPECT_EQ(table.column("smiles"), 0u);
}

TEST(TableReader, RunsOfBlanksAreOneDelimiter) {
  EXPECT_EQ(read_all("smiles   gap \n  CC   1  \nC 2\n"), (Rows{"2: <CC> <1>", "3: <C> <2>"}));
}

TEST(TableReader, BadRowsCostThemselvesAlone) {
  EXPECT_EQ(read_all("a,b\n1\n2,3,4\n5,6\n"),
            (Rows{"2! 1 field where the header has 2", "3! 3 fields where the header has 2",
                  "4: <5> <6>"}));
  EXPECT_EQ(read_all("a,b\n\"open,1\nx,2\n"),
            (Rows{"2! a quote that is never closed", "3: <x> <2>"}));
  EXPECT_EQ(read_all("a,b\n\"open,1\nx,2\n\"y\",3\n"),
            (Rows{"2! text behind a closing quote", "3: <x> <2>", "4: <y> <3>"}));
}

TEST(TableReader, LongLinesAreRefusedInBoundedMemory) {
  const std::string many(TextInput::kLongestRecord + (1 << 18), 'x');
  const Rows rows = read_all("a,b\n" + many + ",1\ny,2\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], "2! more than 1048576 characters");
  EXPECT_EQ(rows[1], "3: <y> <2>");
}

TEST(TableReader, RowsAcrossTheReadBuffer) {
  std::string content = "a,b\n";
  for (int i = 0; i < 20000; ++i) content += "\"" + std::to_string(i) + "\n\",x\r\n";
  const Rows rows = read_all(content);
  ASSERT_EQ(rows.size(), 20000u);
  EXPECT_EQ(rows[19999], "40000: <19999\n> <x>");
}

TEST(TableReader, NamesTheColumnsItHas) {
  const TemporaryFolder folder;
  write_bytes(folder / "t.csv", "smiles, gap ,x,x\nC,1,2,3\n");
  const TableReader table(folder / "t.csv");
  EXPECT_EQ(table.column("gap"), 1u);
  EXPECT_TRUE(says(error_text<UnknownColumn>([&] { table.column("gpa"); }),
                   {"t.csv", "no column 'gpa'", "'smiles', 'gap'"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { table.column("x"); }), {"several columns 'x'"}));
}

TEST(TableReader, RefusesWhatIsNoTable) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content) {
    write_bytes(folder / "t.csv", content);
    return error_text<UserError>([&] { TableReader(folder / "t.csv"); });
  };
  EXPECT_TRUE(says(refused(""), {"t.csv", "empty"}));
  EXPECT_TRUE(says(refused("\n \r\n"), {"t.csv", "empty"}));
  EXPECT_TRUE(says(refused("\x1F\x8B\x08 gz"), {"compressed"}));
  EXPECT_TRUE(says(refused("\xFF\xFE"
                           "a"),
                   {"UTF-16"}));
  EXPECT_TRUE(says(refused(std::string("a\0b", 3)), {"binary"}));
  EXPECT_TRUE(says(refused("\"a,b\n"), {"t.csv:1", "quote"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { TableReader(folder / "none.csv"); }),
                   {"there is no file", "none.csv"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { TableReader(folder.path()); }), {"folder"}));
}

}  // namespace
}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/units.h"

namespace moiety::data {
namespace {

TEST(Text, MissingCells) {
  for (const char* cell : {"", " ", "NA", "n/a", "NaN", "nan", "NULL", "None"}) {
    EXPECT_TRUE(is_missing(cell)) << cell;
  }
  for (const char* cell : {"0", "nano", "-", "C"}) EXPECT_FALSE(is_missing(cell)) << cell;
}

TEST(Text, Numbers) {
  EXPECT_EQ(parse_number("-.72"), -0.72);
  EXPECT_EQ(parse_number(" .34 "), 0.34);
  EXPECT_EQ(parse_number("+1.5"), 1.5);
  EXPECT_EQ(parse_number("2e-3"), 0.002);
  EXPECT_EQ(parse_number("-7"), -7.0);
  for (const char* cell : {"", "1,5", "1.5 eV", "abc", "inf", "nan", "1e999", "+-1", "0x10"}) {
    EXPECT_FALSE(parse_number(cell)) << cell;
  }
}

TEST(Text, FieldsAreQuotedWhereNeeded) {
  EXPECT_EQ(csv_field("CC(=O)O"), "CC(=O)O");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
}

TEST(Text, ListsOfNames) {
  EXPECT_EQ(quoted_list({"a", "b"}), "'a', 'b'");
  EXPECT_TRUE(quoted_list(std::vector<std::string>(12, "x")).ends_with("'x', ... (12 in all)"));
}

TEST(Units, EndOfTheName) {
  EXPECT_EQ(unit_from_name("gap_ev"), "eV");
  EXPECT_EQ(unit_from_name("Gap_eV"), "eV");
  EXPECT_EQ(unit_from_name("dipole_debye"), "debye");
  EXPECT_EQ(unit_from_name("energy_hartree"), "hartree");
  EXPECT_EQ(unit_from_name("band_gap"), "");
}

}  // namespace
}  // namespace moiety::data

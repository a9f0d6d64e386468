// SPDX-License-Identifier: Apache-2.0
#include "data/featurize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/error_text.h"
#include "support/golden.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

template <std::size_t kSize>
std::array<std::int32_t, kSize> row(const std::vector<std::int32_t>& values, std::size_t number) {
  std::array<std::int32_t, kSize> out;
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(number * kSize), kSize, out.begin());
  return out;
}

TEST(Molecule, FeaturesOfOgb) {
  const MoleculeRecord graph = Molecule("Cl[C@H](/C=C/C)Br").graph();
  EXPECT_EQ(row<9>(graph.x, 1), (std::array{5, 2, 4, 5, 1, 0, 2, 0, 0}));
  std::set<std::array<std::int32_t, 3>> double_bonds;
  for (std::size_t e = 0; e < graph.edge_src.size(); ++e) {
    const std::set ends = {graph.edge_src[e], graph.edge_dst[e]};
    if (ends == std::set{2, 3}) double_bonds.insert(row<3>(graph.edge_attr, e));
  }
  EXPECT_EQ(double_bonds, (std::set{std::array{1, 2, 0}}));
}

/// tests/golden/ogb_features.json comes from tests/reference/ogb_features.py.
TEST(Molecule, GraphsOfThePythonReference) {
  const auto golden = read_golden("ogb_features.json");
  EXPECT_GE(golden.size(), 30u);
  for (const auto& expected : golden) {
    const auto smiles = expected["smiles"].get<std::string>();
    SCOPED_TRACE(smiles);
    const MoleculeRecord graph = Molecule(smiles).graph();
    EXPECT_EQ(graph.smiles, smiles);
    EXPECT_EQ(graph.z, expected["z"].get<std::vector<std::uint8_t>>());
    ASSERT_EQ(graph.x.size(), 9 * expected["atoms"].size());
    for (std::size_t a = 0; a < expected["atoms"].size(); ++a) {
      EXPECT_EQ(nlohmann::json(row<9>(graph.x, a)), expected["atoms"][a]) << "atom " << a;
    }
    ASSERT_EQ(graph.edge_dst.size(), expected["edges"].size());
    for (std::size_t e = 0; e < expected["edges"].size(); ++e) {
      const auto bond = row<3>(graph.edge_attr, e);
      EXPECT_EQ(nlohmann::json({graph.edge_dst[e], graph.edge_src[e], bond[0], bond[1], bond[2]}),
                expected["edges"][e]);
    }
  }
}

TEST(Molecule, ReadsNothingBehindTheSmiles) {
  EXPECT_EQ(Molecule(" CCO |(0.1,2,;1,0,;2,1,)| ethanol").smiles(), "CCO");
  EXPECT_EQ(Molecule("CC\tx").graph().z.size(), 2u);
}

TEST(Molecule, UnknownsTakeTheLastClass) {
  const MoleculeRecord graph = Molecule("*~C").graph();
  EXPECT_EQ(graph.x.front(), ogb_schema().atom_dims.front() - 1);
  EXPECT_EQ(graph.z.front(), 0);
  EXPECT_EQ(graph.edge_attr.front(), ogb_schema().bond_dims.front() - 1);
}

TEST(Molecule, CanonicalSmilesAndScaffold) {
  EXPECT_EQ(Molecule("OCC").canonical_smiles(), Molecule("C(O)C").canonical_smiles());
  EXPECT_NE(Molecule("F/C=C/F").canonical_smiles(), Molecule("F/C=C\\F").canonical_smiles());
  EXPECT_EQ(Molecule("Cc1cc(Oc2nccc(CCC)c2)ccc1").scaffold(), "c1ccc(Oc2ccccn2)cc1");
  EXPECT_EQ(Molecule("CCO").scaffold(), "");
}

TEST(Molecule, RandomSmilesAreTheSameMolecule) {
  std::set<std::string> texts;
  const Molecule aspirin("CC(=O)Oc1ccccc1C(=O)O");
  for (std::uint64_t seed = 0; seed < 20; ++seed) texts.insert(aspirin.random_smiles(seed));
  EXPECT_GE(texts.size(), 15u);
  EXPECT_EQ(Molecule("CC(=O)Oc1ccccc1C(=O)O").random_smiles(7), aspirin.random_smiles(7));
  for (const auto& row : read_golden("ogb_features.json")) {
    const Molecule molecule(row["smiles"].get<std::string>());
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const std::string text = molecule.random_smiles(seed);
      EXPECT_EQ(Molecule(text).canonical_smiles(), molecule.canonical_smiles()) << text;
    }
  }
  const auto smiles = gap_smiles();
  for (std::size_t i = 0; i < smiles.size(); i += 10) {
    const Molecule molecule(smiles[i]);
    const std::string text = molecule.random_smiles(i);
    ASSERT_EQ(Molecule(text).canonical_smiles(), molecule.canonical_smiles())
        << smiles[i] << " as " << text;
  }
}

std::string refusal(const std::string& smiles) {
  try {
    const Molecule molecule(smiles);
  } catch (const ChemistryError& error) {
    return error.kind() + ": " + error.what();
  }
  return "taken";
}

TEST(Molecule, SaysWhyItIsNone) {
  EXPECT_EQ(refusal("CC("), "syntax: syntax error while parsing: CC(");
  EXPECT_EQ(refusal("C1CC"), "syntax: unclosed ring for input: 'C1CC'");
  EXPECT_EQ(refusal("CC)"), "syntax: extra close parentheses while parsing: CC)");
  EXPECT_EQ(refusal("C(C)(C)(C)(C)C"),
            "valence: Explicit valence for atom # 0 C, 5, is greater than permitted");
  EXPECT_EQ(refusal("cC"), "aromaticity: non-ring atom 0 marked aromatic");
  EXPECT_TRUE(says(refusal("c1cccc1"), {"aromaticity: Can't kekulize mol"}));
  EXPECT_EQ(refusal(""), "empty: there is no SMILES");
  EXPECT_EQ(refusal(" \t"), "empty: there is no SMILES");
  EXPECT_EQ(refusal("C\xC3\x9F"
                    "C"),
            "syntax: character 2 of the SMILES is not printable ASCII");
  EXPECT_TRUE(says(refusal(std::string(2001, 'C')), {"too long: a SMILES of 2001"}));
}

TEST(Molecule, EachThreadHearsItsOwnError) {
  std::vector<std::jthread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::string smiles = std::string(t + 1, 'C') + "(";
      for (int i = 0; i < 200; ++i) {
        wrong[t] += refusal(smiles) != "syntax: syntax error while parsing: " + smiles;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace moiety::data

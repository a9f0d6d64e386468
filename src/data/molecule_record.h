// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moiety::data {

/// One molecule on its way into a data set: N atoms, E directed edges, each bond as two.
struct MoleculeRecord {
  std::vector<std::int32_t> x;          ///< [N * Fx] categorical atom features
  std::vector<std::uint8_t> z;          ///< [N] atomic numbers
  std::vector<float> pos;               ///< [N * 3] in angstrom; empty when there is no geometry
  std::vector<std::int32_t> edge_src;   ///< [E] local atom numbers
  std::vector<std::int32_t> edge_dst;   ///< [E] ascending; ties by edge_src
  std::vector<std::int32_t> edge_attr;  ///< [E * Fe] categorical bond features
  std::vector<double> y;                ///< [T] targets, NaN = missing
  std::string smiles;
  std::string id;
};

/// What the categorical columns of a featuriser mean: the number of classes of each.
struct FeatureSchema {
  std::string featuriser;               ///< name and version, "ogb-1.3.6"
  std::vector<std::int32_t> atom_dims;  ///< [Fx]
  std::vector<std::int32_t> bond_dims;  ///< [Fe]
};

/// One target column.
struct TargetSpec {
  std::string name;
  std::string unit;                 ///< "" when unknown
  std::string task = "regression";  ///< regression, binary or multilabel
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace moiety::data {

/// Categorical features as they are kept: u8 where every column has at most 256 classes, else i32.
/// Exactly one of the two is set, unless there are none.
struct FeatureRows {
  const std::uint8_t* narrow = nullptr;
  const std::int32_t* wide = nullptr;
};

/// A look at one molecule of a data set or of a record: N atoms, E directed edges. Owns nothing.
struct MoleculeView {
  std::int64_t atoms = 0;
  std::int64_t edges = 0;
  FeatureRows x;                           ///< [N, Fx]
  FeatureRows edge_attr;                   ///< [E, Fe]
  const std::int32_t* edge_src = nullptr;  ///< [E] local to the molecule
  const std::int32_t* edge_dst = nullptr;  ///< [E] ascending
  std::span<const double> y;               ///< [T]
};

}  // namespace moiety::data

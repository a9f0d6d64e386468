// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/graph_batch.h"

namespace moiety::bench {

inline constexpr std::int64_t kSyntheticFeatures = 32;
inline constexpr std::int32_t kSyntheticBondKinds = 4;

/// A molecule-like graph: a tree of 12 to 24 atoms of degree at most 4, with 1 to 3 ring closures.
struct SyntheticMolecule {
  std::int64_t atoms = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> bonds;
  std::vector<float> x;  ///< [atoms, kSyntheticFeatures]
  float y = 0;
};

/// Drawn with SplitMix64, so that a comparison in another language can draw the same ones.
std::vector<SyntheticMolecule> make_synthetic_molecules(std::int64_t count, std::uint64_t seed);

/// Molecules [begin, end) as one batch, with a feature of kSyntheticBondKinds for each edge.
GraphBatch make_synthetic_batch(const std::vector<SyntheticMolecule>& molecules, std::size_t begin,
                                std::size_t end, Device& device);

/// The same in parts of about `nodes_per_part` atoms.
std::vector<GraphBatch> make_synthetic_parts(const std::vector<SyntheticMolecule>& molecules,
                                             std::size_t begin, std::size_t end,
                                             std::int64_t nodes_per_part, Device& device);

}  // namespace moiety::bench

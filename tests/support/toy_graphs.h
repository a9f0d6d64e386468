// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/graph_batch.h"

namespace moiety::testing {

/// A small random molecule-like graph: a tree with a few extra edges, each as two directed edges.
struct ToyMolecule {
  std::int64_t atoms = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> bonds;
  std::vector<std::int32_t> x;          // [atoms, 2], classes 4 and 3
  std::vector<std::int32_t> bond_attr;  // [bonds, 2], classes 3 and 2
  float y = 0;
};

inline const std::vector<std::int32_t> kToyAtomDims = {4, 3};
inline const std::vector<std::int32_t> kToyBondDims = {3, 2};

std::vector<ToyMolecule> make_toy_molecules(std::int64_t count, std::uint64_t seed);

/// Collates molecules [begin, end), written independently of data::collate.
GraphBatch make_toy_batch(const std::vector<ToyMolecule>& molecules, std::size_t begin,
                          std::size_t end, Device& device);

}  // namespace moiety::testing

// SPDX-License-Identifier: Apache-2.0
#include "support/toy_graphs.h"

#include <algorithm>

#include "tensor/rng.h"

namespace moiety::testing {
namespace {

struct DirectedEdge {
  std::int32_t src;
  std::int32_t dst;
  const std::int32_t* attr;
};

Tensor to_tensor(const std::vector<std::int32_t>& values, Device& device) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, device);
}

}  // namespace

std::vector<ToyMolecule> make_toy_molecules(std::int64_t count, std::uint64_t seed) {
  std::vector<ToyMolecule> out;
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::int32_t>(random_below({seed, 5}, draw++, n));
  };
  for (std::int64_t m = 0; m < count; ++m) {
    ToyMolecule molecule;
    molecule.atoms = 1 + below(12);
    for (std::int32_t a = 0; a < molecule.atoms; ++a) {
      molecule.x.push_back(below(4));
      molecule.x.push_back(below(3));
      if (a > 0) molecule.bonds.emplace_back(below(static_cast<std::uint64_t>(a)), a);
    }
    if (molecule.atoms > 4 && below(2) == 1) molecule.bonds.emplace_back(0, molecule.atoms - 1);
    std::sort(molecule.bonds.begin(), molecule.bonds.end());
    molecule.bonds.erase(std::unique(molecule.bonds.begin(), molecule.bonds.end()),
                         molecule.bonds.end());
    for (std::size_t b = 0; b < molecule.bonds.size(); ++b) {
      molecule.bond_attr.push_back(below(3));
      molecule.bond_attr.push_back(below(2));
    }
    molecule.y = random_uniform({seed, 6}, static_cast<std::uint64_t>(m)) * 4 - 1;
    out.push_back(std::move(molecule));
  }
  return out;
}

GraphBatch make_toy_batch(const std::vector<ToyMolecule>& molecules, std::size_t begin,
                          std::size_t end, Device& device) {
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> graph_ptr{0};
  std::vector<DirectedEdge> edges;
  std::vector<float> y;
  std::vector<std::int64_t> index;
  for (std::size_t m = begin; m < end; ++m) {
    const ToyMolecule& molecule = molecules[m];
    const std::int32_t first = graph_ptr.back();
    for (std::size_t b = 0; b < molecule.bonds.size(); ++b) {
      const auto [i, j] = molecule.bonds[b];
      edges.push_back({first + i, first + j, &molecule.bond_attr[2 * b]});
      edges.push_back({first + j, first + i, &molecule.bond_attr[2 * b]});
    }
    x.insert(x.end(), molecule.x.begin(), molecule.x.end());
    graph_ptr.push_back(first + static_cast<std::int32_t>(molecule.atoms));
    y.push_back(molecule.y);
    index.push_back(static_cast<std::int64_t>(m));
  }
  std::sort(edges.begin(), edges.end(), [](const DirectedEdge& a, const DirectedEdge& b) {
    return a.dst != b.dst ? a.dst < b.dst : a.src < b.src;
  });
  std::vector<std::int32_t> src;
  std::vector<std::int32_t> dst;
  std::vector<std::int32_t> attr;
  for (const DirectedEdge& e : edges) {
    src.push_back(e.src);
    dst.push_back(e.dst);
    attr.insert(attr.end(), {e.attr[0], e.attr[1]});
  }
  const std::int64_t n = graph_ptr.back();
  const auto e = static_cast<std::int64_t>(edges.size());
  GraphBatch batch;
  batch.x = Tensor::from(x, {n, 2}, device);
  batch.adj = make_adjacency(src, dst, n, device);
  batch.edge_attr = Tensor::from(attr, {e, 2}, device);
  batch.graph_ptr = to_tensor(graph_ptr, device);
  batch.y = Tensor::from(y, {static_cast<std::int64_t>(y.size()), 1}, device);
  batch.index = Tensor::from(index, {static_cast<std::int64_t>(index.size())}, device);
  return batch;
}

}  // namespace moiety::testing

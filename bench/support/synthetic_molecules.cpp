// SPDX-License-Identifier: Apache-2.0
#include "support/synthetic_molecules.h"

#include <algorithm>
#include <set>

namespace moiety::bench {
namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  std::uint64_t state_;
};

constexpr std::int64_t kMostBonds = 4;

/// Bonds of a molecule under construction.
class BondBuilder {
 public:
  explicit BondBuilder(SyntheticMolecule& molecule)
      : molecule_(molecule), degree_(static_cast<std::size_t>(molecule.atoms), 0) {}

  void add(std::int64_t a, std::int64_t b) {
    molecule_.bonds.emplace_back(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    present_.insert(std::minmax(a, b));
    ++degree_[static_cast<std::size_t>(a)];
    ++degree_[static_cast<std::size_t>(b)];
  }
  bool full(std::int64_t a) const { return degree_[static_cast<std::size_t>(a)] >= kMostBonds; }
  bool has(std::int64_t a, std::int64_t b) const { return present_.contains({a, b}); }
  std::int64_t degree(std::int64_t a) const { return degree_[static_cast<std::size_t>(a)]; }

 private:
  SyntheticMolecule& molecule_;
  std::vector<std::int64_t> degree_;
  std::set<std::pair<std::int64_t, std::int64_t>> present_;
};

SyntheticMolecule make_one(SplitMix64& rng) {
  SyntheticMolecule out;
  const std::int64_t n = out.atoms = 12 + rng.below(13);
  BondBuilder bonds(out);
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t low = std::max<std::int64_t>(0, i - 3);
    std::int64_t parent = low + rng.below(i - low);
    for (std::int64_t k = 0; bonds.full(parent) && k < n; ++k) parent = (parent + i - 1) % i;
    bonds.add(i, parent);
  }
  const std::int64_t rings = 1 + rng.below(3);
  for (std::int64_t r = 0; r < rings; ++r) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const std::int64_t a = rng.below(n);
      const std::int64_t b = a + 4 + rng.below(3);
      if (b < n && !bonds.full(a) && !bonds.full(b) && !bonds.has(a, b)) {
        bonds.add(a, b);
        break;
      }
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<float> row(kSyntheticFeatures, 0.0f);
    row[static_cast<std::size_t>(rng.below(10))] = 1.0f;
    row[static_cast<std::size_t>(10 + std::min<std::int64_t>(bonds.degree(i), 5))] = 1.0f;
    for (std::size_t c = 16; c < row.size(); ++c) row[c] = rng.unit() - 0.5f;
    out.x.insert(out.x.end(), row.begin(), row.end());
  }
  out.y = rng.unit() * 2.0f - 1.0f;
  return out;
}

template <class T>
Tensor to_tensor(const std::vector<T>& values, Device& device) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, device);
}

}  // namespace

std::vector<SyntheticMolecule> make_synthetic_molecules(std::int64_t count, std::uint64_t seed) {
  SplitMix64 rng(seed);
  std::vector<SyntheticMolecule> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(make_one(rng));
  return out;
}

GraphBatch make_synthetic_batch(const std::vector<SyntheticMolecule>& molecules, std::size_t begin,
                                std::size_t end, Device& device) {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<std::int32_t> graph_ptr{0};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // (dst, src)
  for (std::size_t m = begin; m < end; ++m) {
    const SyntheticMolecule& molecule = molecules[m];
    const std::int32_t first = graph_ptr.back();
    for (const auto& [a, b] : molecule.bonds) {
      edges.emplace_back(first + a, first + b);
      edges.emplace_back(first + b, first + a);
    }
    x.insert(x.end(), molecule.x.begin(), molecule.x.end());
    y.push_back(molecule.y);
    graph_ptr.push_back(first + static_cast<std::int32_t>(molecule.atoms));
  }
  std::sort(edges.begin(), edges.end());
  std::vector<std::int32_t> src;
  std::vector<std::int32_t> dst;
  std::vector<std::int32_t> kind;
  for (const auto& [to, from] : edges) {
    src.push_back(from);
    dst.push_back(to);
    kind.push_back((from + to) % kSyntheticBondKinds);
  }
  const std::int64_t n = graph_ptr.back();
  GraphBatch batch;
  batch.x = Tensor::from(x, {n, kSyntheticFeatures}, device);
  batch.adj = make_adjacency(src, dst, n, device);
  batch.edge_attr = to_tensor(kind, device).reshape({-1, 1});
  batch.graph_ptr = to_tensor(graph_ptr, device);
  batch.y = Tensor::from(y, {static_cast<std::int64_t>(y.size()), 1}, device);
  return batch;
}

std::vector<GraphBatch> make_synthetic_parts(const std::vector<SyntheticMolecule>& molecules,
                                             std::size_t begin, std::size_t end,
                                             std::int64_t nodes_per_part, Device& device) {
  std::int64_t atoms = 0;
  for (std::size_t m = begin; m < end; ++m) atoms += molecules[m].atoms;
  const auto parts = static_cast<std::size_t>(
      std::max<std::int64_t>(1, (atoms + nodes_per_part / 2) / nodes_per_part));
  std::vector<GraphBatch> out;
  const std::size_t count = end - begin;
  for (std::size_t p = 0; p < parts; ++p) {
    out.push_back(make_synthetic_batch(molecules, begin + count * p / parts,
                                       begin + count * (p + 1) / parts, device));
  }
  return out;
}

}  // namespace moiety::bench

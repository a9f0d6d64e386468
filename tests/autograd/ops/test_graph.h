// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tensor/graph_batch.h"

namespace moiety::testing {

/// A graph as lists, for references in plain loops: edge e goes from src[e] to dst[e] (ascending).
struct TestGraph {
  int nodes = 0;
  std::vector<std::int32_t> src;
  std::vector<std::int32_t> dst;

  std::size_t edges() const { return src.size(); }
  Adjacency on(Device& device) const;
};

/// `edges` edges between random nodes; the last node has none (isolated) where there are more.
TestGraph random_graph(int nodes, int edges, std::uint64_t seed);
/// Every other node sends to node 0 and receives from it: one huge row.
TestGraph star_graph(int nodes);

/// Node numbers drawn so that low ones are frequent: a few nodes with hundreds of edges, most with
/// a few or none.
TestGraph skewed_graph(int nodes, int edges, std::uint64_t seed);

/// Which entries of `index` have each value below `values`, as ptr [values+1] and order [E].
struct TransposedIndex {
  std::vector<std::int32_t> ptr;
  std::vector<std::int32_t> order;
};
TransposedIndex transpose_index(const std::vector<std::int32_t>& index, int values);

/// [n] i32.
Tensor index_tensor(const std::vector<std::int32_t>& values, Device& device);

/// n numbers in [0, bound).
std::vector<std::int32_t> random_index(int n, int bound, std::uint64_t seed);

}  // namespace moiety::testing

// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/test_graph.h"

#include <algorithm>

#include "tensor/rng.h"

namespace moiety::testing {

Adjacency TestGraph::on(Device& device) const {
  const TransposedIndex in = transpose_index(dst, nodes);
  const TransposedIndex out = transpose_index(src, nodes);
  return {index_tensor(in.ptr, device), index_tensor(src, device), index_tensor(dst, device),
          index_tensor(out.ptr, device), index_tensor(out.order, device)};
}

TestGraph random_graph(int nodes, int edges, std::uint64_t seed) {
  const int connected = std::max(1, nodes - 1);
  TestGraph graph{nodes, random_index(edges, connected, seed),
                  random_index(edges, connected, seed + 1)};
  std::ranges::sort(graph.dst);
  return graph;
}

TestGraph star_graph(int nodes) {
  TestGraph graph{nodes, {}, {}};
  for (int i = 1; i < nodes; ++i) {
    graph.src.push_back(i);
    graph.dst.push_back(0);
  }
  for (int i = 1; i < nodes; ++i) {
    graph.src.push_back(0);
    graph.dst.push_back(i);
  }
  return graph;
}

TransposedIndex transpose_index(const std::vector<std::int32_t>& index, int values) {
  TransposedIndex out;
  out.ptr.push_back(0);
  for (int value = 0; value < values; ++value) {
    for (std::size_t e = 0; e < index.size(); ++e) {
      if (index[e] == value) out.order.push_back(static_cast<std::int32_t>(e));
    }
    out.ptr.push_back(static_cast<std::int32_t>(out.order.size()));
  }
  return out;
}

Tensor index_tensor(const std::vector<std::int32_t>& values, Device& device) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, device);
}

std::vector<std::int32_t> random_index(int n, int bound, std::uint64_t seed) {
  std::vector<std::int32_t> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(static_cast<std::int32_t>(
        random_below({seed, 3}, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(bound))));
  }
  return out;
}

}  // namespace moiety::testing

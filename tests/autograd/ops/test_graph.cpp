// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/test_graph.h"

#include <algorithm>
#include <numeric>

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

TestGraph skewed_graph(int nodes, int edges, std::uint64_t seed) {
  const auto draw = [&](std::uint64_t number, int e) {
    const double u = random_uniform({seed, number}, static_cast<std::uint64_t>(e));
    return static_cast<std::int32_t>(nodes * u * u * u);
  };
  TestGraph graph{nodes, {}, {}};
  for (int e = 0; e < edges; ++e) {
    graph.src.push_back(draw(4, e));
    graph.dst.push_back(draw(5, e));
  }
  std::ranges::sort(graph.dst);
  return graph;
}

TransposedIndex transpose_index(const std::vector<std::int32_t>& index, int values) {
  TransposedIndex out;
  out.ptr.assign(static_cast<std::size_t>(values) + 1, 0);
  for (const std::int32_t value : index) ++out.ptr[static_cast<std::size_t>(value) + 1];
  std::partial_sum(out.ptr.begin(), out.ptr.end(), out.ptr.begin());
  for (std::size_t e = 0; e < index.size(); ++e) out.order.push_back(static_cast<std::int32_t>(e));
  std::ranges::stable_sort(out.order, {},
                           [&](std::int32_t e) { return index[static_cast<std::size_t>(e)]; });
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

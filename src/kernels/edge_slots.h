// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/message_passing.h"

namespace moiety::kernels::cpu {

/// The edges of node i in one direction are slots ptr[i] .. ptr[i+1].
template <Direction kDirection>
class Slots {
 public:
  explicit Slots(const Adjacency& adj)
      : ptr_((kDirection == Direction::in ? adj.row_ptr : adj.out_ptr).data<std::int32_t>()),
        edge_(kDirection == Direction::in ? nullptr : adj.out_edge.data<std::int32_t>()),
        end_((kDirection == Direction::in ? adj.src : adj.dst).data<std::int32_t>()) {}

  std::int64_t begin(std::int64_t node) const { return ptr_[node]; }
  std::int64_t end(std::int64_t node) const { return ptr_[node + 1]; }
  std::int64_t edge(std::int64_t slot) const {
    if constexpr (kDirection == Direction::in) return slot;
    return edge_[slot];
  }
  /// The node at the other end of an edge.
  std::int64_t other(std::int64_t edge) const { return end_[edge]; }

 private:
  const std::int32_t* ptr_;
  const std::int32_t* edge_;
  const std::int32_t* end_;
};

/// Elements touched for one node, on average: the measure of work that tasks are cut by.
inline std::int64_t work_per_node(const Adjacency& adj, std::int64_t channels) {
  const std::int64_t nodes = std::max<std::int64_t>(1, adj.nodes());
  return (2 + adj.edges() / nodes) * channels;
}

}  // namespace moiety::kernels::cpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/edge_sum.cuh"
#include "kernels/message_passing.h"
#include "kernels/optional_view.h"

// The edges of a batch as kernels see them. For .cu files alone.
namespace moiety::kernels::cuda {

using cpu::data_or_null;

/// Both ends of E edges.
struct EdgeEnds {
  const std::int32_t* src;  ///< [E]
  const std::int32_t* dst;  ///< [E]
  std::int64_t nodes;
  std::int64_t edges;
  FaultReport bad_src;
  FaultReport bad_dst;

  /// Whether both ends of an edge are nodes; reported where not.
  __device__ bool check(std::int64_t e) const {
    return bad_src.check(src[e], nodes, e) && bad_dst.check(dst[e], nodes, e);
  }
};

inline EdgeEnds edge_ends(const Stream& stream, const Adjacency& adj) {
  return {adj.src.data<std::int32_t>(),
          adj.dst.data<std::int32_t>(),
          adj.nodes(),
          adj.edges(),
          fault_report(stream, "adjacency", "src"),
          fault_report(stream, "adjacency", "dst")};
}

/// The edges that arrive at each node, or those that leave it.
inline EdgeLists edge_lists(const Stream& stream, const Adjacency& adj, Direction direction) {
  const bool in = direction == Direction::in;
  const FaultReport bad_edge = fault_report(stream, "adjacency", "out_edge");
  return {(in ? adj.row_ptr : adj.out_ptr).data<std::int32_t>(),
          in ? nullptr : adj.out_edge.data<std::int32_t>(),
          (in ? adj.src : adj.dst).data<std::int32_t>(),
          adj.nodes(),
          adj.edges(),
          fault_report(stream, "adjacency", in ? "row_ptr" : "out_ptr"),
          bad_edge,
          fault_report(stream, "adjacency", in ? "src" : "dst")};
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace moiety {

/// The edges of a batch of graphs as compressed sparse rows, sorted by destination, and the same
/// edges sorted by source for the backward pass. Made once a batch. N nodes, E directed edges.
struct Adjacency {
  Tensor row_ptr;   ///< [N+1] i32: edges row_ptr[i] .. row_ptr[i+1] arrive at node i
  Tensor src;       ///< [E] i32: where edge e starts
  Tensor dst;       ///< [E] i32: where edge e ends (ascending)
  Tensor out_ptr;   ///< [N+1] i32: out_ptr[j] .. out_ptr[j+1] are the edges that leave node j
  Tensor out_edge;  ///< [E] i32: their edge numbers, ascending for each node
  /// True once the tensors are known to fit each other; operations check those of all others.
  bool checked = false;

  std::int64_t nodes() const { return row_ptr.numel() - 1; }
  std::int64_t edges() const { return src.numel(); }
};

/// The adjacency of E edges src[e] -> dst[e], sorted by destination, among N nodes. Throws
/// ShapeError for lists of unequal length, an end that is not in [0, nodes) or a destination out of
/// order.
Adjacency make_adjacency(std::span<const std::int32_t> src, std::span<const std::int32_t> dst,
                         std::int64_t nodes, Device& device);

/// M molecules as one disconnected graph: offsets copied, no object per molecule.
struct GraphBatch {
  Tensor x;          ///< [N, Fx] i32 categorical features, or f32
  Adjacency adj;     ///< N nodes, E edges
  Tensor edge_attr;  ///< [E, Fe] i32 categorical features, in edge order; may be undefined
  Tensor graph_ptr;  ///< [M+1] i32: nodes of molecule m
  Tensor y;          ///< [M, T] f32 targets, NaN = missing; may be undefined
  Tensor index;      ///< [M] i64: row of each molecule in the data set
  /// Where this part begins in the whole batch: random numbers of a node or molecule (dropout)
  /// depend on its place in the batch, not on how the batch was split among threads.
  std::int64_t first_node = 0;
  std::int64_t first_graph = 0;

  std::int64_t nodes() const { return adj.nodes(); }
  std::int64_t edges() const { return adj.edges(); }
  std::int64_t graphs() const { return graph_ptr.numel() - 1; }
};

/// The batch on another device; itself when it is there already.
GraphBatch to_device(const GraphBatch& batch, Device& device);

}  // namespace moiety

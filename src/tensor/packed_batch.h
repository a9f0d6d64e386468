// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph_batch.h"

namespace moiety {

/// The extents of a batch of graphs.
struct BatchSize {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  std::int64_t graphs = 0;

  auto operator<=>(const BatchSize&) const = default;
};

/// One of few sizes that holds the batch with at least a node and a graph to spare, and a node for
/// every two spare edges: extents are 64 or multiples of an eighth of a power of two, so that about
/// an eighth is padding where batches are not small.
BatchSize padded_size(const GraphBatch& batch);

/// A batch filled up to a given size, in one block of memory that one copy moves.
///
/// The nodes behind the first N belong to one graph of their own, with the edges behind the first E
/// as loops on them; it is followed by empty graphs. Their features are 0 and their targets are
/// missing (NaN), so that they have no part in the loss and gradients of 0.
struct PackedBatch {
  Tensor memory;      ///< u8: all of the following
  GraphBatch graphs;  ///< without `index`
  Tensor nodes;       ///< [1] i32: N
  Tensor extra;       ///< u8, as many bytes as were asked for: the user's own
};

/// A copy of the batch (on a CPU) of this size, on another CPU device. Throws ShapeError for a size
/// that does not hold the batch and what padding needs.
PackedBatch pack(const GraphBatch& batch, const BatchSize& size, std::int64_t extra_bytes,
                 Device& device);

/// Uninitialised memory on a device that is laid out like another batch.
PackedBatch same_layout(const PackedBatch& batch, Device& device);

}  // namespace moiety

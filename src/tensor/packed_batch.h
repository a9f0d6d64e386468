// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tensor/graph_batch.h"
#include "tensor/token_batch.h"

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

/// The extents of a batch of token sequences.
struct TokenBatchSize {
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;
  std::int64_t scored = 0;   ///< rows that a head reads
  std::int64_t longest = 0;  ///< no sequence has more tokens, padding included

  auto operator<=>(const TokenBatchSize&) const = default;
};

/// One of few sizes that holds the batch, for a model that takes up to `max_length` tokens a
/// sequence, which `longest` exceeds only where the batch does. Of every batch whose head reads a
/// row a sequence, `scored` is `sequences`.
TokenBatchSize padded_size(const TokenBatch& batch, std::int64_t max_length);

/// A batch of graphs or of tokens filled up to a given size, in one block of memory that one copy
/// moves. Padding has no part in the loss and gradients of 0.
///
/// Graphs: the nodes behind the first N belong to one graph of their own, with the edges behind the
/// first E as loops on them; it is followed by empty graphs. Their features are 0 and their targets
/// are missing (NaN).
///
/// Tokens: those behind the first T form sequences of their own, none longer than `longest`. The
/// rows of the head behind the first S read them; their labels are negative and their targets NaN.
struct PackedBatch {
  Tensor memory;                          ///< u8: all of the following
  std::array<std::int64_t, 4> extents{};  ///< of the size, in its order
  GraphBatch graphs;                      ///< without `index`; empty in a batch of tokens
  TokenBatch tokens;                      ///< empty in a batch of graphs
  Tensor rows;                            ///< [1] i32: N or T
  Tensor extra;                           ///< u8, as many bytes as were asked for: the user's own

  bool holds_tokens() const { return tokens.tokens.defined(); }
};

/// A copy of the batch (on a CPU) of this size, on another CPU device. Throws ShapeError for a size
/// that does not hold the batch and what padding needs.
PackedBatch pack(const GraphBatch& batch, const BatchSize& size, std::int64_t extra_bytes,
                 Device& device);
PackedBatch pack(const TokenBatch& batch, const TokenBatchSize& size, std::int64_t extra_bytes,
                 Device& device);

/// Uninitialised memory on a device that is laid out like another batch.
PackedBatch same_layout(const PackedBatch& batch, Device& device);

}  // namespace moiety

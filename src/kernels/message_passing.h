// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph_batch.h"

// Reductions over the edges of each node, without an [E, C] tensor and without atomics. Tensors of
// N nodes and E edges; every view is contiguous. Undefined views stand for what is said of them.
namespace moiety::kernels {

/// Which way messages go: along the edges (in: node i collects from the sources of its incoming
/// edges) or against them (out: node j collects from the destinations of its outgoing edges), the
/// transposed operation.
enum class Direction : std::uint8_t { in, out };
constexpr Direction opposite(Direction d) {
  return d == Direction::in ? Direction::out : Direction::in;
}

/// Throws ShapeError or Error unless the adjacency's tensors fit each other and every index in them
/// is in range, so that kernels may follow it.
void check_adjacency(const Stream& stream, const Adjacency& adj);

/// out[i] = self_weight[i] x[i] + sum over the edges e of node i of edge_weight[e] x[other end].
/// x [N, C], edge_weight [E] (undefined: 1), self_weight [N] (undefined: 0), out [N, C].
void neighbor_sum(const Stream& stream, const TensorView& x, const Adjacency& adj,
                  Direction direction, const TensorView& edge_weight, const TensorView& self_weight,
                  const TensorView& out);

/// out[e] = a[dst[e]] . b[src[e]]: the gradient of an edge's weight. a, b [N, C], out [E].
void edge_dot(const Stream& stream, const TensorView& a, const TensorView& b, const Adjacency& adj,
              const TensorView& out);

/// out[i] = sum over edges e = (j -> i) of relu(x[j] + edge[row[e]]).
/// x [N, C], edge [R, C], row [E] i32 (undefined: row[e] = e), out [N, C].
void relu_message_sum(const Stream& stream, const TensorView& x, const TensorView& edge,
                      const Adjacency& adj, const TensorView& row, const TensorView& out);

/// Where the messages of relu_message_sum are positive: the operands that decide it.
struct MessageGate {
  TensorView x;     ///< [N, C]
  TensorView edge;  ///< [R, C]
  TensorView row;   ///< [E] i32, or undefined
};

/// The gated sum, linear in x and edge: out[i] = sum over edges e = (j -> i) of
/// [gate.x[j] + gate.edge[row[e]] > 0] (x[j] + edge[row[e]]). x [N, C], edge [R, C], out [N, C].
void gated_message_sum(const Stream& stream, const MessageGate& gate, const TensorView& x,
                       const TensorView& edge, const Adjacency& adj, const TensorView& out);

/// Its adjoint: m[e] = [gate of e] grad[dst[e]]; dx[j] = sum of m over the edges that leave j,
/// dedge[r] = sum of m over the edges with row r. grad [N, C], dx [N, C], dedge [R, C]; one of dx
/// and dedge may be undefined.
void gated_message_sum_backward(const Stream& stream, const MessageGate& gate,
                                const TensorView& grad, const Adjacency& adj, const TensorView& dx,
                                const TensorView& dedge);

/// D^-1/2 (A + I) D^-1/2 for unit edge weights, D the degrees of A + I: edge [E], self [N].
void gcn_weights(const Stream& stream, const Adjacency& adj, const TensorView& edge,
                 const TensorView& self);

// The bodies, one a device.
namespace cpu {
decltype(kernels::check_adjacency) check_adjacency;
decltype(kernels::neighbor_sum) neighbor_sum;
decltype(kernels::edge_dot) edge_dot;
decltype(kernels::relu_message_sum) relu_message_sum;
decltype(kernels::gated_message_sum) gated_message_sum;
decltype(kernels::gated_message_sum_backward) gated_message_sum_backward;
decltype(kernels::gcn_weights) gcn_weights;
}  // namespace cpu
namespace cuda {
decltype(kernels::check_adjacency) check_adjacency;
decltype(kernels::neighbor_sum) neighbor_sum;
decltype(kernels::edge_dot) edge_dot;
decltype(kernels::relu_message_sum) relu_message_sum;
decltype(kernels::gated_message_sum) gated_message_sum;
decltype(kernels::gated_message_sum_backward) gated_message_sum_backward;
decltype(kernels::gcn_weights) gcn_weights;
}  // namespace cuda

}  // namespace moiety::kernels

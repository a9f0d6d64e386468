// SPDX-License-Identifier: Apache-2.0
#include "kernels/message_passing.h"

namespace moiety::kernels {

void check_adjacency(const Stream& stream, const Adjacency& adj) {
  run_on<cpu::check_adjacency, cuda::check_adjacency>(stream, adj);
}

void neighbor_sum(const Stream& stream, const TensorView& x, const Adjacency& adj,
                  Direction direction, const TensorView& edge_weight, const TensorView& self_weight,
                  const TensorView& out) {
  run_on<cpu::neighbor_sum, cuda::neighbor_sum>(stream, x, adj, direction, edge_weight, self_weight,
                                                out);
}

void edge_dot(const Stream& stream, const TensorView& a, const TensorView& b, const Adjacency& adj,
              const TensorView& out) {
  run_on<cpu::edge_dot, cuda::edge_dot>(stream, a, b, adj, out);
}

void relu_message_sum(const Stream& stream, const TensorView& x, const TensorView& edge,
                      const Adjacency& adj, const TensorView& row, const TensorView& out) {
  run_on<cpu::relu_message_sum, cuda::relu_message_sum>(stream, x, edge, adj, row, out);
}

void gated_message_sum(const Stream& stream, const MessageGate& gate, const TensorView& x,
                       const TensorView& edge, const Adjacency& adj, const TensorView& out) {
  run_on<cpu::gated_message_sum, cuda::gated_message_sum>(stream, gate, x, edge, adj, out);
}

void gated_message_sum_backward(const Stream& stream, const MessageGate& gate,
                                const TensorView& grad, const Adjacency& adj, const TensorView& dx,
                                const TensorView& dedge) {
  run_on<cpu::gated_message_sum_backward, cuda::gated_message_sum_backward>(stream, gate, grad, adj,
                                                                            dx, dedge);
}

void gcn_weights(const Stream& stream, const Adjacency& adj, const TensorView& edge,
                 const TensorView& self) {
  run_on<cpu::gcn_weights, cuda::gcn_weights>(stream, adj, edge, self);
}

}  // namespace moiety::kernels

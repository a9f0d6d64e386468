// SPDX-License-Identifier: Apache-2.0
#include "kernels/message_passing.h"

#include "kernels/staged.h"

namespace moiety::kernels {

// Floating operands, for run_staged.
inline std::array<TensorView*, 2> views_of(MessageGate& x) { return {&x.x, &x.edge}; }

void check_adjacency(const Stream& stream, const Adjacency& adj) {
  run_on<cpu::check_adjacency, cuda::check_adjacency>(stream, adj);
}

void neighbor_sum(const Stream& stream, const TensorView& x, const Adjacency& adj,
                  Direction direction, const TensorView& edge_weight, const TensorView& self_weight,
                  const TensorView& out) {
  run_staged<cpu::neighbor_sum, cuda::neighbor_sum>(
      stream, reads(x), adj, direction, reads(edge_weight), reads(self_weight), writes(out));
}

void edge_dot(const Stream& stream, const TensorView& a, const TensorView& b, const Adjacency& adj,
              const TensorView& out) {
  run_staged<cpu::edge_dot, cuda::edge_dot>(stream, reads(a), reads(b), adj, writes(out));
}

void relu_message_sum(const Stream& stream, const TensorView& x, const TensorView& edge,
                      const Adjacency& adj, const TensorView& row, const TensorView& out) {
  run_staged<cpu::relu_message_sum, cuda::relu_message_sum>(stream, reads(x), reads(edge), adj, row,
                                                            writes(out));
}

void gated_message_sum(const Stream& stream, const MessageGate& gate, const TensorView& x,
                       const TensorView& edge, const Adjacency& adj, const TensorView& out) {
  run_staged<cpu::gated_message_sum, cuda::gated_message_sum>(stream, reads(gate), reads(x),
                                                              reads(edge), adj, writes(out));
}

void gated_message_sum_backward(const Stream& stream, const MessageGate& gate,
                                const TensorView& grad, const Adjacency& adj, const TensorView& dx,
                                const TensorView& dedge) {
  run_staged<cpu::gated_message_sum_backward, cuda::gated_message_sum_backward>(
      stream, reads(gate), reads(grad), adj, writes(dx), writes(dedge));
}

void gcn_weights(const Stream& stream, const Adjacency& adj, const TensorView& edge,
                 const TensorView& self) {
  run_staged<cpu::gcn_weights, cuda::gcn_weights>(stream, adj, writes(edge), writes(self));
}

}  // namespace moiety::kernels

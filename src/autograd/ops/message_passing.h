// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"
#include "tensor/graph_batch.h"

// Fused gather - transform - reduce over the edges that arrive at each node: no [E, C] tensor.
namespace moiety::ops {

/// out[i] = self_weight[i] x[i] + sum over edges e = (j -> i) of edge_weight[e] x[j].
/// x [N, C], edge_weight [E] or undefined (= 1), self_weight [N] or undefined (= 0) -> [N, C].
/// The sparse product of a normalised adjacency matrix; differentiable in all three.
Variable neighbor_sum(const Variable& x, const Adjacency& adj, const Variable& edge_weight,
                      const Variable& self_weight);

/// out[i] = sum over edges e = (j -> i) of relu(x[j] + edge[row[e]]): the message of GINE (Hu et
/// al. 2020). x [N, C], edge [R, C], row [E] i32 -> [N, C]. `row` lets edges of the same kind share
/// a row of an embedding table; undefined means R = E and edge[e].
Variable relu_message_sum(const Variable& x, const Variable& edge, const Adjacency& adj,
                          const Tensor& row);

/// Weights of the normalised adjacency with self loops of GCN (Kipf and Welling 2017):
/// D^-1/2 (A + I) D^-1/2 with D the degrees of A + I. edge_weight [E] or undefined (= 1).
struct GcnWeights {
  Variable edge;  ///< [E]
  Variable self;  ///< [N]
};
GcnWeights gcn_weights(const Adjacency& adj, const Variable& edge_weight, DType dtype);

}  // namespace moiety::ops

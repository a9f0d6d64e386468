// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/message_passing.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/segment.h"
#include "autograd/ops/shape.h"
#include "kernels/index_check.h"
#include "kernels/message_passing.h"

namespace moiety::ops {
namespace {

using autograd::record;
using autograd::record_many;
using autograd::RuleContext;
using kernels::Direction;

/// What is undefined stays so.
Tensor contiguous_data(const Variable& v) { return v.defined() ? contiguous(v.data()) : Tensor(); }
Tensor empty_like(const Tensor& t) { return Tensor::empty(t.shape(), t.dtype(), t.device()); }

void check_nodes(const char* name, const Variable& x, const Adjacency& adj) {
  check_same_device({&x.data(), &adj.row_ptr, &adj.src, &adj.dst, &adj.out_ptr, &adj.out_edge});
  check<ShapeError>(x.ndim() == 2 && x.size(0) == adj.nodes(), name, ": x must be [", adj.nodes(),
                    ", C] for a graph of ", adj.nodes(), " nodes, not ", x.shape());
  if (!adj.checked) kernels::check_adjacency(x.device().stream(), adj);
}

void check_weight(const char* name, const char* what, const Variable& weight, std::int64_t count,
                  const Variable& x) {
  if (!weight.defined()) return;
  check_same_device({&weight.data(), &x.data()});
  check<ShapeError>(weight.shape() == Shape{count}, name, ": ", what, " must be [", count,
                    "], not ", weight.shape());
  check<DTypeError>(weight.dtype() == x.dtype(), name, ": ", what, " is ", name_of(weight.dtype()),
                    " and x ", name_of(x.dtype()));
}

// The adjacency is known to fit from here on.

Variable sum_neighbors(const Variable& x, const Adjacency& adj, Direction direction,
                       const Variable& edge_weight, const Variable& self_weight);

/// a[dst[e]] . b[src[e]] for each edge e: a, b [N, C] -> [E].
Variable edge_dot(const Variable& a, const Variable& b, const Adjacency& adj) {
  Tensor out = Tensor::empty({adj.edges()}, a.dtype(), a.device());
  kernels::edge_dot(a.device().stream(), contiguous(a.data()), contiguous(b.data()), adj, out);
  return record("edge_dot", {a, b}, out, {.inputs = autograd::kAll},
                [adj](const RuleContext& c) -> Variables {
                  Variables grads(2);
                  const auto flow = [&](int from, Direction direction) {
                    return sum_neighbors(c.input(from), adj, direction, c.grad(), Variable());
                  };
                  if (c.needs(0)) grads[0] = flow(1, Direction::in);
                  if (c.needs(1)) grads[1] = flow(0, Direction::out);
                  return grads;
                });
}

Variables sum_neighbors_rule(const RuleContext& c, const Adjacency& adj, Direction direction,
                             bool has_edge, bool has_self) {
  Variables grads(3);
  const Variable g = c.grad();
  if (c.needs(0)) {
    grads[0] = sum_neighbors(g, adj, opposite(direction), has_edge ? c.input(1) : Variable(),
                             has_self ? c.input(2) : Variable());
  }
  if (c.needs(1)) {
    grads[1] =
        direction == Direction::in ? edge_dot(g, c.input(0), adj) : edge_dot(c.input(0), g, adj);
  }
  if (c.needs(2)) grads[2] = sum(mul(g, c.input(0)), 1);
  return grads;
}

Variable sum_neighbors(const Variable& x, const Adjacency& adj, Direction direction,
                       const Variable& edge_weight, const Variable& self_weight) {
  const Tensor in = contiguous(x.data());
  const Tensor edge = contiguous_data(edge_weight);
  const Tensor self = contiguous_data(self_weight);
  Tensor out = empty_like(in);
  kernels::neighbor_sum(x.device().stream(), in, adj, direction, view_or_none(edge),
                        view_or_none(self), out);
  // x is read only for the gradients of the weights.
  const bool keep_x = edge_weight.requires_grad() || self_weight.requires_grad();
  return record(
      "neighbor_sum", {x, edge_weight, self_weight}, out, {.inputs = keep_x ? 0b111u : 0b110u},
      [adj, direction, has_edge = edge.defined(), has_self = self.defined()](const RuleContext& c) {
        return sum_neighbors_rule(c, adj, direction, has_edge, has_self);
      });
}

/// Which messages of relu_message_sum are positive; constant where it is differentiated.
struct Gate {
  Tensor x;
  Tensor edge;
  Tensor row;

  kernels::MessageGate view() const { return {x.view(), edge.view(), view_or_none(row)}; }
};

// The gated sum and its adjoint are linear in what they are given, and each is the other's rule.

Variables gated_sum_backward(const Gate& gate, const Variable& grad, const Adjacency& adj,
                             bool needs_x, bool needs_edge);

Variable gated_sum(const Gate& gate, const Variable& x, const Variable& edge,
                   const Adjacency& adj) {
  Tensor out = empty_like(gate.x);
  kernels::gated_message_sum(out.device().stream(), gate.view(), contiguous(x.data()),
                             contiguous(edge.data()), adj, out);
  return record("gated_message_sum", {x, edge}, out, {}, [gate, adj](const RuleContext& c) {
    return gated_sum_backward(gate, c.grad(), adj, c.needs(0), c.needs(1));
  });
}

Variables gated_sum_backward(const Gate& gate, const Variable& grad, const Adjacency& adj,
                             bool needs_x, bool needs_edge) {
  const bool recorded = autograd::grad_enabled();  // then both, for a simple rule
  const Tensor dx = needs_x || recorded ? empty_like(gate.x) : Tensor();
  const Tensor dedge = needs_edge || recorded ? empty_like(gate.edge) : Tensor();
  kernels::gated_message_sum_backward(grad.device().stream(), gate.view(), contiguous(grad.data()),
                                      adj, view_or_none(dx), view_or_none(dedge));
  if (!recorded) {
    return {dx.defined() ? Variable(dx) : Variable(),
            dedge.defined() ? Variable(dedge) : Variable()};
  }
  return record_many("gated_message_sum_backward", {grad}, {dx, dedge}, {},
                     [gate, adj](const RuleContext& c) -> Variables {
                       return {gated_sum(gate, c.grad(0), c.grad(1), adj)};
                     });
}

void check_edges(const Variable& x, const Variable& edge, const Adjacency& adj, const Tensor& row) {
  check_same_device({&x.data(), &edge.data(), &row});
  check<ShapeError>(edge.ndim() == 2 && edge.size(1) == x.size(1),
                    "relu_message_sum: edge must be [R, ", x.size(1), "], not ", edge.shape());
  check<DTypeError>(edge.dtype() == x.dtype(), "relu_message_sum: edge is ", name_of(edge.dtype()),
                    " and x ", name_of(x.dtype()));
  if (!row.defined()) {
    check<ShapeError>(edge.size(0) == adj.edges(), "relu_message_sum: edge has ", edge.size(0),
                      " rows for ", adj.edges(), " edges; give `row` where edges share rows");
    return;
  }
  check<ShapeError>(row.shape() == Shape{adj.edges()}, "relu_message_sum: row must be [",
                    adj.edges(), "], not ", row.shape());
  kernels::check_index(x.device().stream(), row, edge.size(0), "relu_message_sum", "row");
}

}  // namespace

Variable neighbor_sum(const Variable& x, const Adjacency& adj, const Variable& edge_weight,
                      const Variable& self_weight) {
  check_nodes("neighbor_sum", x, adj);
  check_weight("neighbor_sum", "edge_weight", edge_weight, adj.edges(), x);
  check_weight("neighbor_sum", "self_weight", self_weight, adj.nodes(), x);
  return sum_neighbors(x, adj, Direction::in, edge_weight, self_weight);
}

Variable relu_message_sum(const Variable& x, const Variable& edge, const Adjacency& adj,
                          const Tensor& row) {
  check_nodes("relu_message_sum", x, adj);
  check_edges(x, edge, adj, row);
  const Gate gate{contiguous(x.data()), contiguous(edge.data()), row};
  Tensor out = empty_like(gate.x);
  kernels::relu_message_sum(out.device().stream(), gate.x, gate.edge, adj, view_or_none(row), out);
  return record("relu_message_sum", {x, edge}, out, {}, [gate, adj](const RuleContext& c) {
    return gated_sum_backward(gate, c.grad(), adj, c.needs(0), c.needs(1));
  });
}

GcnWeights gcn_weights(const Adjacency& adj, const Variable& edge_weight, DType dtype) {
  const Stream& stream = adj.row_ptr.device().stream();
  if (!adj.checked) kernels::check_adjacency(stream, adj);
  Device& device = adj.row_ptr.device();
  if (!edge_weight.defined()) {
    const Tensor edge = Tensor::empty({adj.edges()}, dtype, device);
    const Tensor self = Tensor::empty({adj.nodes()}, dtype, device);
    kernels::gcn_weights(stream, adj, edge, self);
    return {Variable(edge), Variable(self)};
  }
  check<ShapeError>(edge_weight.shape() == Shape{adj.edges()}, "gcn_weights: edge_weight must be [",
                    adj.edges(), "], not ", edge_weight.shape());
  check<DTypeError>(edge_weight.dtype() == dtype, "gcn_weights: edge_weight is ",
                    name_of(edge_weight.dtype()), ", not ", name_of(dtype));
  const Variable weight = reshape(edge_weight, {adj.edges(), 1});
  const Variable degree = affine(segment_sum(weight, adj.row_ptr), 1.0, 1.0);
  const Variable scale = pow(degree, -0.5);
  const Variable at_source = gather(scale, adj.src, adj.out_ptr, adj.out_edge);
  const Variable at_destination = segment_broadcast(scale, adj.row_ptr, adj.edges());
  return {reshape(mul(weight, mul(at_source, at_destination)), {adj.edges()}),
          reshape(pow(degree, -1.0), {adj.nodes()})};
}

}  // namespace moiety::ops

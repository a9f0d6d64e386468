// SPDX-License-Identifier: Apache-2.0
#include "kernels/message_passing.h"
#include "support/suite.h"
#include "support/synthetic_molecules.h"

namespace moiety::bench {
namespace {

using kernels::Direction;

constexpr std::int64_t kBondKinds = 60;

Adjacency bonds_of(Device& device, std::int64_t molecules) {
  const auto drawn = make_synthetic_molecules(molecules, 1);
  return make_synthetic_batch(drawn, 0, drawn.size(), device).adj;
}

/// A batch of molecules, and what the kernels read and write.
struct Operands {
  Operands(Device& device, std::int64_t molecules, std::int64_t channels, DType dtype)
      : adj(bonds_of(device, molecules)) {
    x = make_input(device, {adj.nodes(), channels}, dtype);
    grad = make_input(device, {adj.nodes(), channels}, dtype);
    out = Tensor::empty({adj.nodes(), channels}, dtype, device);
    edge_weight = make_input(device, {adj.edges()}, dtype);
    self_weight = make_input(device, {adj.nodes()}, dtype);
    edge = make_input(device, {adj.edges(), channels}, dtype);
    dedge = Tensor::empty({adj.edges(), channels}, dtype, device);
    table = make_input(device, {kBondKinds, channels}, dtype);
    dtable = Tensor::empty({kBondKinds, channels}, dtype, device);
    std::vector<std::int32_t> kinds;
    for (std::int64_t e = 0; e < adj.edges(); ++e)
      kinds.push_back(static_cast<std::int32_t>(e % 5));
    kind = Tensor::from(kinds, {adj.edges()}, device);
  }

  Adjacency adj;
  Tensor x, grad, out, edge_weight, self_weight, edge, dedge, table, dtable, kind;
};

/// What a kernel reads and writes: arrays of N x C, E x C and R x C elements, of N and E elements,
/// and of N and E indices.
struct Traffic {
  double node_rows = 0, edge_rows = 0, table_rows = 0;
  double node_values = 0, edge_values = 0;
  double node_indices = 0, edge_indices = 0;
};

void add_batch(Suite& suite, std::int64_t molecules, std::int64_t channels, DType dtype) {
  const auto host = make_cpu_device(1);
  const Adjacency sizes = bonds_of(*host, molecules);
  const auto nodes = static_cast<double>(sizes.nodes());
  const auto edges = static_cast<double>(sizes.edges());
  const auto add = [&](const std::string& name, const Traffic& t, const auto& kernel) {
    const double rows = t.node_rows * nodes + t.edge_rows * edges + t.table_rows * kBondKinds;
    const double elements =
        rows * static_cast<double>(channels) + t.node_values * nodes + t.edge_values * edges;
    const double indices = t.node_indices * nodes + t.edge_indices * edges;
    suite.add("message_passing/" + name + "/" + std::to_string(molecules) + "_molecules_x" +
                  std::to_string(channels),
              dtype, {.bytes = bytes_of(dtype) * elements + sizeof(std::int32_t) * indices},
              [=](Device& device) {
                const Operands o(device, molecules, channels, dtype);
                return [=, &device] { kernel(device.stream(), o); };
              });
  };
  add("neighbor_sum",
      {.node_rows = 2, .node_values = 1, .edge_values = 1, .node_indices = 1, .edge_indices = 1},
      [](const Stream& stream, const Operands& o) {
        kernels::neighbor_sum(stream, o.x, o.adj, Direction::in, o.edge_weight, o.self_weight,
                              o.out);
      });
  add("neighbor_sum_backward",
      {.node_rows = 2, .node_values = 1, .edge_values = 1, .node_indices = 1, .edge_indices = 2},
      [](const Stream& stream, const Operands& o) {
        kernels::neighbor_sum(stream, o.x, o.adj, Direction::out, o.edge_weight, o.self_weight,
                              o.out);
      });
  add("edge_dot", {.node_rows = 2, .edge_values = 1, .edge_indices = 2},
      [](const Stream& stream, const Operands& o) {
        kernels::edge_dot(stream, o.grad, o.x, o.adj, o.edge_weight);
      });
  add("relu_message_sum", {.node_rows = 2, .table_rows = 1, .node_indices = 1, .edge_indices = 2},
      [](const Stream& stream, const Operands& o) {
        kernels::relu_message_sum(stream, o.x, o.table, o.adj, o.kind, o.out);
      });
  add("relu_message_backward",
      {.node_rows = 3, .table_rows = 2, .node_indices = 1, .edge_indices = 3},
      [](const Stream& stream, const Operands& o) {
        kernels::gated_message_sum_backward(stream, {o.x, o.table, o.kind}, o.grad, o.adj, o.out,
                                            o.dtable);
      });
  add("relu_message_sum_own_rows",
      {.node_rows = 2, .edge_rows = 1, .node_indices = 1, .edge_indices = 1},
      [](const Stream& stream, const Operands& o) {
        kernels::relu_message_sum(stream, o.x, o.edge, o.adj, TensorView{}, o.out);
      });
  add("relu_message_backward_own_rows",
      {.node_rows = 3, .edge_rows = 2, .node_indices = 1, .edge_indices = 2},
      [](const Stream& stream, const Operands& o) {
        kernels::gated_message_sum_backward(stream, {o.x, o.edge, TensorView{}}, o.grad, o.adj,
                                            o.out, o.dedge);
      });
}

}  // namespace

void add_message_passing(Suite& suite) {
  const auto molecules = [&](std::int64_t n) { return suite.sized(n, 2); };
  for (const DType dtype : suite.dtypes()) {
    add_batch(suite, molecules(32), 64, dtype);
    add_batch(suite, molecules(32), 256, dtype);
    add_batch(suite, molecules(512), 64, dtype);
    if (suite.on_gpu()) add_batch(suite, molecules(8192), 128, dtype);
  }
}

}  // namespace moiety::bench

// SPDX-License-Identifier: Apache-2.0
#include "kernels/message_passing.h"
#include "support/suite.h"
#include "support/synthetic_molecules.h"

namespace moiety::bench {
namespace {

using kernels::Direction;

constexpr std::int64_t kBondKinds = 60;

/// A batch of molecules, and what the kernels read and write.
struct Operands {
  Operands(Device& device, std::int64_t molecules, std::int64_t channels) {
    const auto drawn = make_synthetic_molecules(molecules, 1);
    adj = make_synthetic_batch(drawn, 0, drawn.size(), device).adj;
    x = make_input(device, {adj.nodes(), channels});
    grad = make_input(device, {adj.nodes(), channels});
    out = Tensor::empty({adj.nodes(), channels}, DType::f32, device);
    edge_weight = make_input(device, {adj.edges()});
    self_weight = make_input(device, {adj.nodes()});
    edge = make_input(device, {adj.edges(), channels});
    dedge = Tensor::empty({adj.edges(), channels}, DType::f32, device);
    table = make_input(device, {kBondKinds, channels});
    dtable = Tensor::empty({kBondKinds, channels}, DType::f32, device);
    std::vector<std::int32_t> kinds;
    for (std::int64_t e = 0; e < adj.edges(); ++e)
      kinds.push_back(static_cast<std::int32_t>(e % 5));
    kind = Tensor::from(kinds, {adj.edges()}, device);
  }

  Adjacency adj;
  Tensor x, grad, out, edge_weight, self_weight, edge, dedge, table, dtable, kind;
};

/// Arrays of N x C and E x C elements that a kernel reads and writes, and of E numbers.
struct Traffic {
  double node_arrays = 0;
  double edge_arrays = 0;
  double edge_numbers = 0;
};

void add_batch(Suite& suite, std::int64_t molecules, std::int64_t channels) {
  const auto device = make_cpu_device(1);
  const Operands sizes(*device, molecules, channels);
  const auto nodes = static_cast<double>(sizes.adj.nodes());
  const auto edges = static_cast<double>(sizes.adj.edges());
  const auto width = static_cast<double>(channels);
  const auto add = [&](const std::string& name, Traffic t, const auto& kernel) {
    const double elements = t.node_arrays * nodes * width + t.edge_arrays * edges * width +
                            t.edge_numbers * edges + 2 * nodes;
    suite.add("message_passing/" + name + "/" + std::to_string(molecules) + "_molecules_x" +
                  std::to_string(channels),
              {.bytes = 4 * elements}, [=](Device& on) {
                const Operands o(on, molecules, channels);
                return [=, &on] { kernel(on.stream(), o); };
              });
  };
  add("neighbor_sum", {2, 0, 2}, [](const Stream& stream, const Operands& o) {
    kernels::neighbor_sum(stream, o.x, o.adj, Direction::in, o.edge_weight, o.self_weight, o.out);
  });
  add("neighbor_sum_backward", {2, 0, 3}, [](const Stream& stream, const Operands& o) {
    kernels::neighbor_sum(stream, o.x, o.adj, Direction::out, o.edge_weight, o.self_weight, o.out);
  });
  add("edge_dot", {2, 0, 3}, [](const Stream& stream, const Operands& o) {
    kernels::edge_dot(stream, o.grad, o.x, o.adj, o.edge_weight);
  });
  add("relu_message_sum", {2, 0, 2}, [](const Stream& stream, const Operands& o) {
    kernels::relu_message_sum(stream, o.x, o.table, o.adj, o.kind, o.out);
  });
  add("relu_message_backward", {3, 0, 3}, [](const Stream& stream, const Operands& o) {
    kernels::gated_message_sum_backward(stream, {o.x, o.table, o.kind}, o.grad, o.adj, o.out,
                                        o.dtable);
  });
  add("relu_message_sum_own_rows", {2, 1, 1}, [](const Stream& stream, const Operands& o) {
    kernels::relu_message_sum(stream, o.x, o.edge, o.adj, TensorView{}, o.out);
  });
  add("relu_message_backward_own_rows", {3, 2, 2}, [](const Stream& stream, const Operands& o) {
    kernels::gated_message_sum_backward(stream, {o.x, o.edge, TensorView{}}, o.grad, o.adj, o.out,
                                        o.dedge);
  });
}

}  // namespace

void add_message_passing(Suite& suite) {
  add_batch(suite, 32, 64);
  add_batch(suite, 32, 256);
  add_batch(suite, 512, 64);
}

}  // namespace moiety::bench

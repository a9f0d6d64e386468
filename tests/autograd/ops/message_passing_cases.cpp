// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "autograd/ops/message_passing.h"
#include "autograd/ops/test_graph.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<std::vector<double>>;

enum class Weights { none, edge, both };

std::string name_of(Weights w) {
  return w == Weights::none ? "plain" : w == Weights::edge ? "edge" : "both";
}

OpCase neighbor_sum_case(const std::string& graph_name, const TestGraph& g, std::int64_t channels,
                         Weights weights) {
  OpCase c;
  c.name = concat("neighbor_sum_", name_of(weights), "_", graph_name, "_c", channels);
  c.inputs = {{g.nodes, channels}};
  if (weights != Weights::none) c.inputs.push_back({static_cast<std::int64_t>(g.edges())});
  if (weights == Weights::both) c.inputs.push_back({g.nodes});
  c.run = [=](const Variables& in) -> Variables {
    return {ops::neighbor_sum(in[0], g.on(in[0].device()),
                              weights != Weights::none ? in[1] : Variable(),
                              weights == Weights::both ? in[2] : Variable())};
  };
  c.reference = [=](const Values& in) -> Values {
    const auto width = static_cast<std::size_t>(channels);
    std::vector<double> out(in[0].size());
    for (std::size_t i = 0; weights == Weights::both && i < out.size(); ++i) {
      out[i] = in[2][i / width] * in[0][i];
    }
    for (std::size_t e = 0; e < g.edges(); ++e) {
      const double w = weights == Weights::none ? 1.0 : in[1][e];
      for (std::size_t k = 0; k < width; ++k) {
        out[static_cast<std::size_t>(g.dst[e]) * width + k] +=
            w * in[0][static_cast<std::size_t>(g.src[e]) * width + k];
      }
    }
    return {out};
  };
  return c;
}

/// rows 0: every edge has its own row; otherwise edges share `rows` rows.
OpCase relu_message_case(const std::string& graph_name, const TestGraph& g, std::int64_t channels,
                         int rows) {
  OpCase c;
  c.name = concat("relu_message_sum_", rows > 0 ? "shared_" : "", graph_name, "_c", channels);
  const auto edges = static_cast<int>(g.edges());
  const std::vector<std::int32_t> row =
      rows > 0 ? random_index(edges, rows, 9) : std::vector<std::int32_t>{};
  c.inputs = {{g.nodes, channels}, {rows > 0 ? rows : edges, channels}};
  c.run = [=](const Variables& in) -> Variables {
    Device& device = in[0].device();
    return {ops::relu_message_sum(in[0], in[1], g.on(device),
                                  rows > 0 ? index_tensor(row, device) : Tensor())};
  };
  c.reference = [=](const Values& in) -> Values {
    const auto width = static_cast<std::size_t>(channels);
    std::vector<double> out(in[0].size());
    for (std::size_t e = 0; e < g.edges(); ++e) {
      const std::size_t r = rows > 0 ? static_cast<std::size_t>(row[e]) : e;
      for (std::size_t k = 0; k < width; ++k) {
        const double m =
            in[0][static_cast<std::size_t>(g.src[e]) * width + k] + in[1][r * width + k];
        out[static_cast<std::size_t>(g.dst[e]) * width + k] += std::max(m, 0.0);
      }
    }
    return {out};
  };
  return c;
}

OpCase gcn_weights_case(const std::string& graph_name, const TestGraph& g, bool weighted) {
  OpCase c;
  c.name = concat("gcn_weights_", weighted ? "weighted_" : "", graph_name);
  c.inputs = {{static_cast<std::int64_t>(g.edges())}};
  c.low = 0.5;
  c.run = [=](const Variables& in) -> Variables {
    const auto weights =
        ops::gcn_weights(g.on(in[0].device()), weighted ? in[0] : Variable(), in[0].dtype());
    return {weights.edge, weights.self};
  };
  c.reference = [=](const Values& in) -> Values {
    std::vector<double> degree(static_cast<std::size_t>(g.nodes), 1.0);
    const auto weight = [&](std::size_t e) { return weighted ? in[0][e] : 1.0; };
    for (std::size_t e = 0; e < g.edges(); ++e) {
      degree[static_cast<std::size_t>(g.dst[e])] += weight(e);
    }
    Values out(2);
    for (std::size_t e = 0; e < g.edges(); ++e) {
      out[0].push_back(weight(e) / std::sqrt(degree[static_cast<std::size_t>(g.src[e])] *
                                             degree[static_cast<std::size_t>(g.dst[e])]));
    }
    for (double d : degree) out[1].push_back(1 / d);
    return out;
  };
  c.differentiable = weighted;
  c.halves = g.edges() < 4000;  // degrees of thousands are themselves rounded
  return c;
}

void add_cases(std::vector<OpCase>& cases, const std::string& graph_name, const TestGraph& g,
               std::int64_t channels) {
  for (const Weights w : {Weights::none, Weights::edge, Weights::both}) {
    cases.push_back(neighbor_sum_case(graph_name, g, channels, w));
  }
  for (const int rows : {0, 3}) {
    cases.push_back(relu_message_case(graph_name, g, channels, rows));
  }
}

}  // namespace

std::vector<OpCase> message_passing_cases() {
  std::vector<OpCase> cases;
  const std::vector<std::pair<std::string, TestGraph>> small = {
      {"empty", TestGraph{}},
      {"isolated", TestGraph{3, {}, {}}},
      {"self_loop", TestGraph{1, {0}, {0}}},
      {"random", random_graph(6, 11, 21)},
      {"star", star_graph(6)}};
  for (const auto& [name, graph] : small) {
    add_cases(cases, name, graph, 3);
  }
  add_cases(cases, "tail", random_graph(3, 5, 22), 19);
  for (std::int64_t channels : {1, 31, 32, 33, 64, 120}) {
    add_cases(cases, "random33", random_graph(33, 80, 23), channels);
  }
  add_cases(cases, "n31_e33", random_graph(31, 33, 26), 3);
  add_cases(cases, "n32_e32", random_graph(32, 32, 27), 3);
  add_cases(cases, "n33_e31", random_graph(33, 31, 28), 3);
  const std::vector<std::pair<std::string, TestGraph>> large = {
      {"huge_row", star_graph(2500)},
      {"skewed", skewed_graph(600, 3000, 29)},
      {"blocks", random_graph(1000, 2500, 24)}};
  for (const auto& [name, graph] : large) {
    add_cases(cases, name, graph, name == "blocks" ? 64 : 20);
  }
  add_cases(cases, "dense", random_graph(4, 300, 25), 20);
  for (const auto& graphs : {small, large}) {
    for (const auto& [name, graph] : graphs) {
      cases.push_back(gcn_weights_case(name, graph, false));
      cases.push_back(gcn_weights_case(name, graph, true));
    }
  }
  return cases;
}

}  // namespace moiety::testing

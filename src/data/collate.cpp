// SPDX-License-Identifier: Apache-2.0
#include "data/collate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tensor/error.h"

namespace moiety::data {
namespace {

/// What all molecules of a batch share: the numbers of feature columns and targets.
struct Widths {
  std::int64_t x;
  std::int64_t edge_attr;
  std::int64_t y;
};

/// A contiguous run of a batch's molecules and where it stands in the batch.
struct Run {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t first_node = 0;
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
};

void copy_features(const FeatureRows& from, std::int64_t count, std::int32_t* to) {
  if (from.narrow != nullptr) {
    std::copy_n(from.narrow, count, to);
  } else if (from.wide != nullptr) {
    std::copy_n(from.wide, count, to);
  }
}

/// Copies one molecule's edges as number `first_edge` and on of the batch, its atoms standing at
/// `first_node`, and fills both CSR forms for its atoms.
void copy_edges(const MoleculeView& molecule, std::int32_t first_node, std::int32_t first_edge,
                const Adjacency& adj) {
  const std::int64_t n = molecule.atoms;
  std::int32_t* src = adj.src.data<std::int32_t>() + first_edge;
  std::int32_t* dst = adj.dst.data<std::int32_t>() + first_edge;
  std::int32_t* row_end = adj.row_ptr.data<std::int32_t>() + first_node + 1;
  std::int32_t* out_end = adj.out_ptr.data<std::int32_t>() + first_node + 1;
  std::int32_t* out_edge = adj.out_edge.data<std::int32_t>();
  std::fill_n(row_end, n, 0);
  std::fill_n(out_end, n, 0);
  for (std::int64_t e = 0; e < molecule.edges; ++e) {
    src[e] = molecule.edge_src[e] + first_node;
    dst[e] = molecule.edge_dst[e] + first_node;
    ++row_end[molecule.edge_dst[e]];
    ++out_end[molecule.edge_src[e]];
  }
  std::int32_t arrived = first_edge;
  std::int32_t left = first_edge;
  for (std::int64_t i = 0; i < n; ++i) {
    arrived += row_end[i];
    row_end[i] = arrived;
    left += std::exchange(out_end[i], left);
  }
  // out_end holds where each atom's edges begin; filling them moves it to where they end.
  for (std::int32_t e = 0; e < molecule.edges; ++e) {
    out_edge[out_end[molecule.edge_src[e]]++] = first_edge + e;
  }
}

GraphBatch make_batch(const Run& run, const Widths& widths, Device& device) {
  const std::int64_t graphs = run.end - run.begin;
  GraphBatch out;
  out.x = Tensor::empty({run.nodes, widths.x}, DType::i32, device);
  out.adj.row_ptr = Tensor::empty({run.nodes + 1}, DType::i32, device);
  out.adj.src = Tensor::empty({run.edges}, DType::i32, device);
  out.adj.dst = Tensor::empty({run.edges}, DType::i32, device);
  out.adj.out_ptr = Tensor::empty({run.nodes + 1}, DType::i32, device);
  out.adj.out_edge = Tensor::empty({run.edges}, DType::i32, device);
  if (widths.edge_attr > 0) {
    out.edge_attr = Tensor::empty({run.edges, widths.edge_attr}, DType::i32, device);
  }
  out.graph_ptr = Tensor::empty({graphs + 1}, DType::i32, device);
  if (widths.y > 0) out.y = Tensor::empty({graphs, widths.y}, DType::f32, device);
  out.index = Tensor::empty({graphs}, DType::i64, device);
  out.first_node = run.first_node;
  out.first_graph = run.begin;
  return out;
}

/// `view_of(i)` and `row_of(i)` give molecule i of the whole batch and its row.
template <class ViewOf, class RowOf>
GraphBatch collate_run(const Run& run, const Widths& widths, const ViewOf& view_of,
                       const RowOf& row_of, Device& device) {
  GraphBatch out = make_batch(run, widths, device);
  auto* graph_ptr = out.graph_ptr.data<std::int32_t>();
  auto* x = out.x.data<std::int32_t>();
  auto* attr = widths.edge_attr > 0 ? out.edge_attr.data<std::int32_t>() : nullptr;
  auto* y = widths.y > 0 ? out.y.data<float>() : nullptr;
  auto* index = out.index.data<std::int64_t>();
  out.adj.row_ptr.data<std::int32_t>()[0] = 0;
  out.adj.out_ptr.data<std::int32_t>()[0] = 0;
  *graph_ptr++ = 0;
  std::int32_t node = 0;
  std::int32_t edge = 0;
  for (std::int64_t i = run.begin; i < run.end; ++i) {
    const MoleculeView molecule = view_of(i);
    copy_features(molecule.x, molecule.atoms * widths.x, x + node * widths.x);
    copy_edges(molecule, node, edge, out.adj);
    if (attr) {
      copy_features(molecule.edge_attr, molecule.edges * widths.edge_attr,
                    attr + edge * widths.edge_attr);
    }
    for (const double value : molecule.y) *y++ = static_cast<float>(value);
    node += static_cast<std::int32_t>(molecule.atoms);
    edge += static_cast<std::int32_t>(molecule.edges);
    *graph_ptr++ = node;
    *index++ = row_of(i);
  }
  out.adj.checked = true;  // the molecules' own edges were, by the data set or the featuriser
  return out;
}

/// Cuts a batch of `count` molecules: molecule i goes to the part in whose share of all atoms its
/// middle atom falls, so parts are even and no molecule is cut.
template <class ViewOf>
std::vector<Run> cut_runs(std::int64_t count, std::int64_t nodes_per_part, const ViewOf& view_of) {
  check<ShapeError>(nodes_per_part >= 0, "nodes_per_part must not be negative");
  Run whole{0, count, 0, 0, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const MoleculeView molecule = view_of(i);
    whole.nodes += molecule.atoms;
    whole.edges += molecule.edges;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check<ShapeError>(whole.nodes < kMost && whole.edges < kMost, "a batch of ", whole.nodes,
                    " atoms and ", whole.edges, " edges is too large; lower the batch size");
  if (nodes_per_part == 0 || whole.nodes <= nodes_per_part) return {whole};
  const std::int64_t parts = (whole.nodes + nodes_per_part - 1) / nodes_per_part;
  std::vector<Run> runs;
  std::int64_t node = 0;
  std::int64_t part = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    const MoleculeView molecule = view_of(i);
    const std::int64_t middle = node + molecule.atoms / 2;
    const std::int64_t own = std::min(middle * parts / whole.nodes, parts - 1);
    if (own != part) {
      runs.push_back({i, i, node, 0, 0});
      part = own;
    }
    runs.back().end = i + 1;
    runs.back().nodes += molecule.atoms;
    runs.back().edges += molecule.edges;
    node += molecule.atoms;
  }
  return runs;
}

template <class ViewOf, class RowOf>
std::vector<GraphBatch> collate_all(std::int64_t count, std::int64_t nodes_per_part,
                                    const Widths& widths, const ViewOf& view_of,
                                    const RowOf& row_of, Device& device) {
  check(!device.is_cuda(), "batches are made on a CPU and then copied to ", device.name());
  std::vector<GraphBatch> parts;
  for (const Run& run : cut_runs(count, nodes_per_part, view_of)) {
    parts.push_back(collate_run(run, widths, view_of, row_of, device));
  }
  return parts;
}

}  // namespace

GraphBatch collate(const Dataset& dataset, std::span<const std::int64_t> molecules,
                   Device& device) {
  return std::move(collate_parts(dataset, molecules, 0, device)[0]);
}

std::vector<GraphBatch> collate_parts(const Dataset& dataset,
                                      std::span<const std::int64_t> molecules,
                                      std::int64_t nodes_per_part, Device& device) {
  dataset.check_unchanged();
  const DatasetInfo& info = dataset.info();
  const Widths widths = {std::ssize(info.features.atom_dims), std::ssize(info.features.bond_dims),
                         std::ssize(info.targets)};
  const auto row_of = [&](std::int64_t i) { return molecules[static_cast<std::size_t>(i)]; };
  const auto view_of = [&](std::int64_t i) { return dataset.view(row_of(i)); };
  return collate_all(std::ssize(molecules), nodes_per_part, widths, view_of, row_of, device);
}

std::vector<GraphBatch> collate_parts(std::span<const MoleculeRecord> molecules,
                                      const FeatureSchema& features, std::int64_t first_row,
                                      std::int64_t nodes_per_part, Device& device) {
  const Widths widths = {std::ssize(features.atom_dims), std::ssize(features.bond_dims),
                         molecules.empty() ? 0 : std::ssize(molecules[0].y)};
  const auto row_of = [&](std::int64_t i) { return first_row + i; };
  const auto view_of = [&](std::int64_t i) {
    const MoleculeRecord& record = molecules[static_cast<std::size_t>(i)];
    return MoleculeView{std::ssize(record.z),
                        std::ssize(record.edge_src),
                        {nullptr, record.x.data()},
                        {nullptr, record.edge_attr.data()},
                        record.edge_src.data(),
                        record.edge_dst.data(),
                        record.y};
  };
  return collate_all(std::ssize(molecules), nodes_per_part, widths, view_of, row_of, device);
}

}  // namespace moiety::data

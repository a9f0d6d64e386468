// SPDX-License-Identifier: Apache-2.0
#include "tensor/packed_batch.h"

#include <algorithm>
#include <limits>

#include "tensor/block_layout.h"

namespace moiety {
namespace {

/// What decides where the tensors of a batch lie.
struct Layout {
  BatchSize size;
  std::int64_t atom_features;
  DType atom_dtype;
  std::int64_t bond_features;  // -1: there is no edge_attr
  std::int64_t targets;        // -1: there is no y
  std::int64_t extra_bytes;
};

PackedBatch cut(const Layout& layout, BlockCutter& cutter) {
  const auto& [nodes, edges, graphs] = layout.size;
  const auto indices = [&](std::int64_t count) { return cutter.take({count}, DType::i32); };
  PackedBatch out;
  out.extents = {nodes, edges, graphs};
  out.graphs.x = cutter.take({nodes, layout.atom_features}, layout.atom_dtype);
  out.graphs.adj.row_ptr = indices(nodes + 1);
  out.graphs.adj.src = indices(edges);
  out.graphs.adj.dst = indices(edges);
  out.graphs.adj.out_ptr = indices(nodes + 1);
  out.graphs.adj.out_edge = indices(edges);
  out.graphs.adj.checked = true;
  out.graphs.graph_ptr = indices(graphs + 1);
  if (layout.bond_features >= 0) {
    out.graphs.edge_attr = cutter.take({edges, layout.bond_features}, DType::i32);
  }
  if (layout.targets >= 0) out.graphs.y = cutter.take({graphs, layout.targets}, DType::f32);
  out.rows = indices(1);
  out.extra = cutter.take({layout.extra_bytes}, DType::u8);
  return out;
}

std::int64_t columns(const Tensor& t) { return t.defined() ? t.size(1) : -1; }

/// Loops on the nodes behind the first N, in both orders of the edges.
void pad_edges(const GraphBatch& batch, const BatchSize& size, const Adjacency& out) {
  const std::int64_t nodes = batch.nodes();
  const std::int64_t edges = batch.edges();
  copy_and_fill<std::int32_t>(batch.adj.row_ptr, out.row_ptr, 0);
  copy_and_fill<std::int32_t>(batch.adj.out_ptr, out.out_ptr, 0);
  copy_and_fill<std::int32_t>(batch.adj.src, out.src, 0);
  copy_and_fill<std::int32_t>(batch.adj.dst, out.dst, 0);
  copy_and_fill<std::int32_t>(batch.adj.out_edge, out.out_edge, 0);
  auto* const row_ptr = out.row_ptr.data<std::int32_t>();
  share_evenly(row_ptr + nodes, size.nodes - nodes, edges, size.edges);
  std::copy(row_ptr + nodes, row_ptr + size.nodes + 1, out.out_ptr.data<std::int32_t>() + nodes);
  for (std::int64_t node = nodes; node < size.nodes; ++node) {
    for (std::int32_t e = row_ptr[node]; e < row_ptr[node + 1]; ++e) {
      out.src.data<std::int32_t>()[e] = static_cast<std::int32_t>(node);
      out.dst.data<std::int32_t>()[e] = static_cast<std::int32_t>(node);
      out.out_edge.data<std::int32_t>()[e] = e;
    }
  }
}

}  // namespace

BatchSize padded_size(const GraphBatch& batch) {
  // A layer that sums over edges makes a node with many loops grow without bound: two are what an
  // atom in a chain has.
  constexpr std::int64_t kMostLoops = 2;
  BatchSize size{padded_extent(batch.nodes() + 1), padded_extent(batch.edges()),
                 padded_extent(batch.graphs() + 1)};
  while (kMostLoops * (size.nodes - batch.nodes()) < size.edges - batch.edges()) {
    size.nodes = padded_extent(size.nodes + 1);
  }
  return size;
}

PackedBatch pack(const GraphBatch& batch, const BatchSize& size, std::int64_t extra_bytes,
                 Device& device) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check<ShapeError>(size.nodes > batch.nodes() && size.edges >= batch.edges() &&
                        size.graphs > batch.graphs() && std::max(size.nodes, size.edges) < kMost,
                    "a batch of ", batch.nodes(), " nodes, ", batch.edges(), " edges and ",
                    batch.graphs(), " graphs does not fit ", size.nodes, ", ", size.edges, " and ",
                    size.graphs);
  check(!device.is_cuda() && !batch.x.device().is_cuda(), "pack works on the host");
  const Layout layout{
      size,       batch.x.size(1), batch.x.dtype(), columns(batch.edge_attr), columns(batch.y),
      extra_bytes};
  PackedBatch out = lay_out([&layout](BlockCutter& cutter) { return cut(layout, cutter); }, device);
  visit_any(batch.x.dtype(), [&]<class T>() { copy_and_fill<T>(batch.x, out.graphs.x, T{}); });
  pad_edges(batch, size, out.graphs.adj);
  if (batch.edge_attr.defined()) {
    copy_and_fill<std::int32_t>(batch.edge_attr, out.graphs.edge_attr, 0);
  }
  copy_and_fill<std::int32_t>(batch.graph_ptr, out.graphs.graph_ptr,
                              static_cast<std::int32_t>(size.nodes));
  if (batch.y.defined()) {
    copy_and_fill<float>(batch.y, out.graphs.y, std::numeric_limits<float>::quiet_NaN());
  }
  *out.rows.data<std::int32_t>() = static_cast<std::int32_t>(batch.nodes());
  return out;
}

PackedBatch same_layout(const PackedBatch& batch, Device& device) {
  PackedBatch out = batch;
  out.memory = Tensor::empty(batch.memory.shape(), DType::u8, device);
  const auto* const first = static_cast<const std::uint8_t*>(batch.memory.raw_data());
  const auto move = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    const auto place = static_cast<const std::uint8_t*>(tensor.raw_data()) - first;
    tensor = out.memory.part(place, tensor.shape(), tensor.dtype());
  };
  GraphBatch& graphs = out.graphs;
  for (Tensor* tensor : {&graphs.x, &graphs.adj.row_ptr, &graphs.adj.src, &graphs.adj.dst,
                         &graphs.adj.out_ptr, &graphs.adj.out_edge, &graphs.edge_attr,
                         &graphs.graph_ptr, &graphs.y, &out.rows, &out.extra}) {
    move(*tensor);
  }
  for (Tensor* tensor : out.tokens.tensors()) move(*tensor);
  return out;
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/packed_batch.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace moiety {
namespace {

constexpr std::int64_t kAlignment = 256;  // as cudaMalloc aligns: any kernel's widest access

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

/// From 64 on, multiples of an eighth of the power of two below.
std::int64_t padded(std::int64_t n) {
  constexpr std::int64_t kSmallest = 64;
  if (n <= kSmallest) return kSmallest;
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
  return round_up(n, below / 8);
}

/// What decides where the tensors of a batch lie.
struct Layout {
  BatchSize size;
  std::int64_t atom_features;
  DType atom_dtype;
  std::int64_t bond_features;  // -1: there is no edge_attr
  std::int64_t targets;        // -1: there is no y
  std::int64_t extra_bytes;
};

/// Cuts tensors off a block, one after the other, or only counts their bytes.
class Cutter {
 public:
  explicit Cutter(Tensor memory) : memory_(std::move(memory)) {}

  Tensor take(const Shape& shape, DType dtype) {
    const std::int64_t first = bytes_;
    bytes_ += round_up(shape.numel() * static_cast<std::int64_t>(size_of(dtype)), kAlignment);
    return memory_.defined() ? memory_.part(first, shape, dtype) : Tensor();
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  Tensor memory_;
  std::int64_t bytes_ = 0;
};

PackedBatch cut(const Layout& layout, Cutter& cutter) {
  const auto& [nodes, edges, graphs] = layout.size;
  const auto indices = [&](std::int64_t count) { return cutter.take({count}, DType::i32); };
  PackedBatch out;
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
  out.nodes = indices(1);
  out.extra = cutter.take({layout.extra_bytes}, DType::u8);
  return out;
}

PackedBatch lay_out(const Layout& layout, Device& device) {
  Cutter counter{Tensor()};
  cut(layout, counter);
  Tensor memory = Tensor::empty({counter.bytes()}, DType::u8, device);
  Cutter cutter(memory);
  PackedBatch out = cut(layout, cutter);
  out.memory = std::move(memory);
  return out;
}

std::int64_t columns(const Tensor& t) { return t.defined() ? t.size(1) : -1; }

/// to = from, then `fill`.
template <class T>
void copy_and_fill(const Tensor& from, const Tensor& to, T fill) {
  const T* values = from.data<T>();
  T* const end = std::copy(values, values + from.numel(), to.data<T>());
  std::fill(end, to.data<T>() + to.numel(), fill);
}

/// Pointers of the nodes behind the first N: they share the edges behind the first E evenly.
void share_edges(std::int32_t* ptr, std::int64_t nodes, std::int64_t edges, const BatchSize& size) {
  const std::int64_t spare = size.nodes - nodes;
  for (std::int64_t i = 0; i <= spare; ++i) {
    ptr[nodes + i] = static_cast<std::int32_t>(edges + i * (size.edges - edges) / spare);
  }
}

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
  share_edges(row_ptr, nodes, edges, size);
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
  BatchSize size{padded(batch.nodes() + 1), padded(batch.edges()), padded(batch.graphs() + 1)};
  while (kMostLoops * (size.nodes - batch.nodes()) < size.edges - batch.edges()) {
    size.nodes = padded(size.nodes + 1);
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
  PackedBatch out = lay_out({size, batch.x.size(1), batch.x.dtype(), columns(batch.edge_attr),
                             columns(batch.y), extra_bytes},
                            device);
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
  *out.nodes.data<std::int32_t>() = static_cast<std::int32_t>(batch.nodes());
  return out;
}

PackedBatch same_layout(const PackedBatch& batch, Device& device) {
  const GraphBatch& graphs = batch.graphs;
  return lay_out({{graphs.nodes(), graphs.edges(), graphs.graphs()},
                  graphs.x.size(1),
                  graphs.x.dtype(),
                  columns(graphs.edge_attr),
                  columns(graphs.y),
                  batch.extra.numel()},
                 device);
}

}  // namespace moiety

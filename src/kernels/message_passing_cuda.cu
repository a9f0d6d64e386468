// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/adjacency.cuh"
#include "kernels/index_check.h"

namespace moiety::kernels::cuda {
namespace {

/// Rows of the nodes at the other ends, times the edges' weights, and the node's own times its.
template <class T>
struct NeighborMessage : MessageDefaults<T> {
  const T* x;       // [N, C]
  const T* weight;  // [E]; nullptr: 1
  const T* self;    // [N]; nullptr: 0
  std::int64_t columns;

  template <int kCount>
  __device__ void load_own(std::int64_t i, std::int64_t c, Pack<T, kCount>& own) const {
    if (self == nullptr) return own.fill(0);
    own.load(x + i * columns + c);
    const Compute<T> scale = widen(self[i]);
#pragma unroll
    for (int k = 0; k < kCount; ++k) own.v[k] *= scale;
  }
  template <int kCount>
  __device__ void start(const Pack<T, kCount>& own, Pack<T, kCount>& sum) const {
    sum = own;
  }
  template <int kCount>
  __device__ bool add(const EdgeLists::Edge& edge, std::int64_t c, const Pack<T, kCount>&,
                      Pack<T, kCount>& sum) const {
    const Compute<T> scale = weight != nullptr ? widen(weight[edge.number]) : Compute<T>{1};
    Pack<T, kCount> term;
    term.load(x + edge.other * columns + c);
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum.v[k] += scale * term.v[k];
    return true;
  }
};

/// A team takes one edge, every thread each blockDim.x-th group of kCount columns.
template <class T, int kCount>
__global__ void edge_dot_kernel(const T* __restrict__ a, const T* __restrict__ b, EdgeEnds ends,
                                std::int64_t columns, T* __restrict__ out) {
  const std::int64_t e = team_row();
  Compute<T> sum = 0;
  if (e < ends.edges && ends.check(e)) {
    const T* left = a + ends.dst[e] * columns;
    const T* right = b + ends.src[e] * columns;
    for (std::int64_t c = threadIdx.x * kCount; c < columns; c += blockDim.x * kCount) {
      Pack<T, kCount> x, y;
      x.load(left + c);
      y.load(right + c);
#pragma unroll
      for (int k = 0; k < kCount; ++k) sum += x.v[k] * y.v[k];
    }
  }
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(distance));
  }
  if (e < ends.edges && threadIdx.x == 0) out[e] = narrow<T>(sum);
}

/// The degree of a node in A + I.
template <class F>
__device__ F degree(const std::int32_t* __restrict__ ptr, std::int64_t i) {
  return static_cast<F>(ptr[i + 1] - ptr[i] + 1);
}

/// A thread takes a node or an edge.
template <class T>
__global__ void gcn_weights_kernel(const std::int32_t* __restrict__ ptr, EdgeEnds ends,
                                   T* __restrict__ edge, T* __restrict__ self) {
  using F = Compute<T>;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       t < ends.nodes + ends.edges; t += step) {
    if (t < ends.nodes) {
      self[t] = narrow<T>(F{1} / degree<F>(ptr, t));
      continue;
    }
    const std::int64_t e = t - ends.nodes;
    F weight = 0;
    if (ends.check(e)) {
      weight = F{1} / std::sqrt(degree<F>(ptr, ends.dst[e]) * degree<F>(ptr, ends.src[e]));
    }
    edge[e] = narrow<T>(weight);
  }
}

}  // namespace

void check_adjacency(const Stream& stream, const Adjacency& adj) {
  const std::int64_t nodes = adj.nodes();
  const std::int64_t edges = adj.edges();
  check<ShapeError>(
      adj.dst.numel() == edges && adj.out_edge.numel() == edges && adj.out_ptr.numel() == nodes + 1,
      "adjacency: src, dst, out_edge and row_ptr, out_ptr must have one length each, "
      "not ",
      edges, ", ", adj.dst.numel(), ", ", adj.out_edge.numel(), " and ", nodes + 1, ", ",
      adj.out_ptr.numel());
  check_ptr(stream, adj.row_ptr, edges, "adjacency", "row_ptr");
  check_ptr(stream, adj.out_ptr, edges, "adjacency", "out_ptr");
  check_index(stream, adj.src, nodes, "adjacency", "src");
  check_index(stream, adj.dst, nodes, "adjacency", "dst");
  check_index(stream, adj.out_edge, edges, "adjacency", "out_edge");
}

void neighbor_sum(const Stream& stream, const TensorView& x, const Adjacency& adj,
                  Direction direction, const TensorView& edge_weight, const TensorView& self_weight,
                  const TensorView& out) {
  const std::int64_t columns = x.shape[1];
  const EdgeLists lists = edge_lists(stream, adj, direction);
  visit_floating(x.dtype, [&]<class T>() {
    const NeighborMessage<T> message{
        {}, x.as<T>(), data_or_null<T>(edge_weight), data_or_null<T>(self_weight), columns};
    visit_width<T>(
        columns,
        [&]<int kCount>() { sum_edges<T, kCount>(stream, lists, message, columns, out.as<T>()); },
        x.as<T>(), out.as<T>());
  });
}

void edge_dot(const Stream& stream, const TensorView& a, const TensorView& b, const Adjacency& adj,
              const TensorView& out) {
  const std::int64_t columns = a.shape[1];
  const EdgeEnds ends = edge_ends(stream, adj);
  visit_floating(a.dtype, [&]<class T>() {
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          Threads threads = row_threads(ends.edges, columns, kCount);
          threads.grid.y = 1;
          launch(edge_dot_kernel<T, kCount>, threads, stream, a.as<T>(), b.as<T>(), ends, columns,
                 out.as<T>());
        },
        a.as<T>(), b.as<T>());
  });
}

void gcn_weights(const Stream& stream, const Adjacency& adj, const TensorView& edge,
                 const TensorView& self) {
  constexpr int kBlock = 256;
  const EdgeEnds ends = edge_ends(stream, adj);
  visit_floating(edge.dtype, [&]<class T>() {
    launch(gcn_weights_kernel<T>,
           Threads(dim3(blocks_for(ends.nodes + ends.edges, kBlock)), dim3(kBlock)), stream,
           adj.row_ptr.data<std::int32_t>(), ends, edge.as<T>(), self.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cached_attention.h"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/reduce.cuh"

namespace moiety::kernels::cuda {
namespace {

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / kWarp;

template <class T>
struct CachedProblem {
  HeadView<const T> q, k, v;
  const std::int32_t* positions;
  T* keys;
  T* values;
  int group;  ///< heads of queries for each of keys
  int width;
  std::int64_t room;
  Compute<T> scale;
};

/// A block takes a sequence and head of keys, with the heads of queries that share it: a warp takes
/// every fourth key, its lanes the elements.
template <class T>
__global__ void __launch_bounds__(kBlock)
    cached_attention_kernel(const CachedProblem<T> p, T* __restrict__ out) {
  using C = Compute<T>;
  MOIETY_DYNAMIC_SHARED(memory);
  MOIETY_SHARED(C, scratch, [kWarp]);
  MOIETY_SHARED(C, parts, [kWarps][kWarp]);
  C* const weights = reinterpret_cast<C*>(memory);  // [tokens]
  const int row = static_cast<int>(blockIdx.x);
  const int key_head = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int newest = p.positions[row];
  const std::int64_t begin =
      (static_cast<std::int64_t>(row) * gridDim.y + key_head) * p.room * p.width;
  T* const keys = p.keys + begin;
  T* const values = p.values + begin;
  const std::int64_t end = static_cast<std::int64_t>(newest) * p.width;
  for (int d = static_cast<int>(threadIdx.x); d < p.width; d += kBlock) {
    keys[end + d] = p.k.row(row, key_head)[d];
    values[end + d] = p.v.row(row, key_head)[d];
  }
  __syncthreads();  // the newest token is with the others

  for (int h = key_head * p.group; h < (key_head + 1) * p.group; ++h) {
    const T* const q = p.q.row(row, h);
    C largest = -static_cast<C>(INFINITY);
    for (int j = warp; j <= newest; j += kWarps) {
      const T* const key = keys + static_cast<std::int64_t>(j) * p.width;
      C dot = 0;
      for (int d = lane; d < p.width; d += kWarp) dot += widen(q[d]) * widen(key[d]);
      dot = p.scale * warp_reduce(dot, Sum{});
      if (lane == 0) weights[j] = dot;
      largest = Max{}(largest, dot);
    }
    largest = block_reduce(largest, Max{}, scratch);  // its barriers show all the scores
    C total = 0;
    for (int j = static_cast<int>(threadIdx.x); j <= newest; j += kBlock) {
      const C weight = std::exp(weights[j] - largest);
      weights[j] = weight;
      total += weight;
    }
    const C share = C{1} / block_reduce(total, Sum{}, scratch);
    for (int first = 0; first < p.width; first += kWarp) {
      const int d = first + lane;
      C sum = 0;
      for (int j = warp; d < p.width && j <= newest; j += kWarps) {
        sum += weights[j] * widen(values[static_cast<std::int64_t>(j) * p.width + d]);
      }
      parts[warp][lane] = sum;
      __syncthreads();  // all parts are there
      if (warp == 0 && d < p.width) {
#pragma unroll
        for (int w = 1; w < kWarps; ++w) sum += parts[w][lane];
        const std::int64_t heads = static_cast<std::int64_t>(gridDim.y) * p.group;
        out[(row * heads + h) * p.width + d] = narrow<T>(sum * share);
      }
      __syncthreads();  // the parts and weights are used
    }
  }
}

}  // namespace

void cached_attention(const Stream& stream, const CachedAttention& in, const TensorView& out) {
  if (out.numel() == 0) return;
  visit_floating(in.q.dtype, [&]<class T>() {
    const CachedProblem<T> problem{HeadView<const T>(in.q),
                                   HeadView<const T>(in.k),
                                   HeadView<const T>(in.v),
                                   in.positions.as<std::int32_t>(),
                                   in.keys.as<T>(),
                                   in.values.as<T>(),
                                   static_cast<int>(in.q.size(1) / in.k.size(1)),
                                   static_cast<int>(in.q.size(2)),
                                   in.keys.size(2),
                                   static_cast<Compute<T>>(in.scale)};
    const dim3 grid(static_cast<unsigned>(in.k.size(0)), static_cast<unsigned>(in.k.size(1)));
    const std::size_t shared = static_cast<std::size_t>(in.keys.size(2)) * sizeof(Compute<T>);
    launch(cached_attention_kernel<T>, Threads(grid, dim3(kBlock), shared), stream, problem,
           out.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

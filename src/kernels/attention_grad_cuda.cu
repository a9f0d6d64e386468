// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_mma.cuh"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/reduce.cuh"
#include "tensor/storage.h"

// Scores are made anew from what the forward pass kept. Each kernel owns what it writes, so that
// nothing is added by two blocks: queries' gradients, those of keys and values, that of the bias.
namespace moiety::kernels::cuda {
namespace {

/// products [rows] = sums of a * b, both [rows, width]: a warp a row.
template <class T>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    row_products_kernel(const T* __restrict__ a, const T* __restrict__ b, std::int64_t rows,
                        int width, Compute<T>* __restrict__ products) {
  const std::int64_t row =
      (static_cast<std::int64_t>(blockIdx.x) * kAttentionBlock + threadIdx.x) / kWarp;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Compute<T> sum = 0;
  for (int d = lane; d < width; d += kWarp) {
    sum += widen(a[row * width + d]) * widen(b[row * width + d]);
  }
  sum = warp_reduce(sum, Sum{});
  if (lane == 0) products[row] = sum;
}

/// The tiles of a block in shared memory, rows of width + 1 and scores of 33 elements.
template <class C>
struct GradTiles {
  C *q, *g, *k, *v, *weights, *slopes;

  __device__ GradTiles(unsigned char* memory, int width) {
    const int rows = kTile * (width + 1);
    q = reinterpret_cast<C*>(memory);
    g = q + rows;
    k = g + rows;
    v = k + rows;
    weights = v + rows;
    slopes = weights + kTile * kTilePad;
  }
};
constexpr int kRowTiles = 4;
constexpr int kScoreTiles = 2;

template <class T>
__device__ void load_queries(const AttentionProblem<T>& p, const AttentionFlow<T>& flow,
                             const TokenTile& rows, int head, const GradTiles<Compute<T>>& tiles) {
  const std::int64_t first = p.query_ptr[rows.sequence] + rows.begin;
  load_rows(p.q, first, rows.count, head, p.width, tiles.q);
  load_rows(flow.grad, first, rows.count, head, p.width, tiles.g);
}

template <class T>
__device__ void load_keys(const AttentionProblem<T>& p, int sequence, int begin, int count,
                          int key_head, const GradTiles<Compute<T>>& tiles) {
  const std::int64_t first = p.key_ptr[sequence] + begin;
  load_rows(p.k, first, count, key_head, p.width, tiles.k);
  load_rows(p.v, first, count, key_head, p.width, tiles.v);
}

/// Of the thread's pairs: weights that the values were multiplied with, and slopes, the gradients
/// of the finished scores.
template <class T>
__device__ void make_slopes(const AttentionProblem<T>& p, const AttentionFlow<T>& flow,
                            const TokenTile& rows, int head, int first_key,
                            const GradTiles<Compute<T>>& tiles,
                            Compute<T> (&weights)[kRowsOfThread][kKeysOfThread],
                            Compute<T> (&slopes)[kRowsOfThread][kKeysOfThread]) {
  using C = Compute<T>;
  multiply_rows(tiles.q, tiles.k, p.width, weights);
  finish_scores(p, rows, head, first_key, weights);
  multiply_rows(tiles.g, tiles.v, p.width, slopes);
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    const int row = thread_row() + r;
    const std::int64_t place =
        (p.query_ptr[rows.sequence] + rows.begin + row) * static_cast<std::int64_t>(p.heads) + head;
    const bool inside = row < rows.count;
    const C lse = inside ? flow.lse[place] : -static_cast<C>(INFINITY);
    const bool none = lse == -static_cast<C>(INFINITY);
    const C product = inside ? flow.products[place] : C{0};
    C mask[kKeysOfThread];
    mask_of(p, rows, head, r, first_key, mask);
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) {
      const C weight = none ? C{0} : std::exp(weights[r][c] - lse);
      slopes[r][c] = weight == C{0} ? C{0} : weight * (slopes[r][c] * mask[c] - product);
      weights[r][c] = weight * mask[c];
    }
  }
}

/// tile [32, 33] = the thread's pairs.
template <class C>
__device__ void share(const C (&pairs)[kRowsOfThread][kKeysOfThread], C* tile) {
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) {
      tile[(thread_row() + r) * kTilePad + thread_key() + c] = pairs[r][c];
    }
  }
}

/// acc [2][kColumns] += factors^T rows: kTransposed: a thread's rows are columns of `factors`.
template <bool kTransposed, int kColumns, class C>
__device__ void add_products(const C* factors, const C* rows, int count, int width,
                             C (&acc)[kRowsOfThread][kColumns]) {
  const int column = static_cast<int>(threadIdx.x) % kThreadsOfRow;
  for (int n = 0; n < count; ++n) {
    C factor[kRowsOfThread];
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      const int own = thread_row() + r;
      factor[r] = factors[kTransposed ? n * kTilePad + own : own * kTilePad + n];
    }
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int d = column + i * kThreadsOfRow;
      const C value = d < width ? rows[n * (width + 1) + d] : C{0};
#pragma unroll
      for (int r = 0; r < kRowsOfThread; ++r) acc[r][i] += factor[r] * value;
    }
  }
}

/// to [tokens, heads, width] = scale * acc for the thread's rows of a tile.
template <class T, int kColumns>
__device__ void write_rows(const Compute<T> (&acc)[kRowsOfThread][kColumns], Compute<T> scale,
                           std::int64_t first, int count, int heads, int head, int width, T* to) {
  const int column = static_cast<int>(threadIdx.x) % kThreadsOfRow;
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    const int row = thread_row() + r;
    if (row >= count) continue;
    T* const out = to + ((first + row) * heads + head) * width;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int d = column + i * kThreadsOfRow;
      if (d < width) out[d] = narrow<T>(scale * acc[r][i]);
    }
  }
}

template <class C, int kColumns>
__device__ void clear(C (&acc)[kRowsOfThread][kColumns]) {
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) acc[r][i] = 0;
  }
}

/// A block takes 32 queries of a sequence and head over the keys that they see.
template <class T, int kColumns>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    query_grad_kernel(const AttentionProblem<T> p, const AttentionFlow<T> flow,
                      T* __restrict__ dq) {
  using C = Compute<T>;
  MOIETY_DYNAMIC_SHARED(memory);
  const TokenTile rows = find_tile(p.query_ptr, p.sequences, kTile, static_cast<int>(blockIdx.x));
  if (rows.count == 0) return;
  const int head = static_cast<int>(blockIdx.y);
  const GradTiles<C> tiles(memory, p.width);
  load_queries(p, flow, rows, head, tiles);
  C acc[kRowsOfThread][kColumns];
  clear(acc);
  const int keys = p.seen(rows.sequence, rows.begin + rows.count - 1);
  for (int key = 0; key < keys; key += kTile) {
    const int count = keys - key < kTile ? keys - key : kTile;
    __syncthreads();  // the tile before is used
    load_keys(p, rows.sequence, key, count, head / p.group, tiles);
    __syncthreads();
    C weights[kRowsOfThread][kKeysOfThread];
    C slopes[kRowsOfThread][kKeysOfThread];
    make_slopes(p, flow, rows, head, key, tiles, weights, slopes);
    share(slopes, tiles.slopes);
    __syncwarp();  // a row's slopes come from the warp that reads them
    add_products<false>(tiles.slopes, tiles.k, count, p.width, acc);
  }
  write_rows<T>(acc, p.scale, p.query_ptr[rows.sequence] + rows.begin, rows.count, p.heads, head,
                p.width, dq);
}

/// A block takes 32 keys of a sequence and head of keys over the queries that see them.
template <class T, int kColumns>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    key_grad_kernel(const AttentionProblem<T> p, const AttentionFlow<T> flow, T* __restrict__ dk,
                    T* __restrict__ dv) {
  using C = Compute<T>;
  MOIETY_DYNAMIC_SHARED(memory);
  const TokenTile own = find_tile(p.key_ptr, p.sequences, kTile, static_cast<int>(blockIdx.x));
  if (own.count == 0) return;
  const int b = own.sequence;
  const int key_head = static_cast<int>(blockIdx.y);
  const GradTiles<C> tiles(memory, p.width);
  load_keys(p, b, own.begin, own.count, key_head, tiles);
  C key_acc[kRowsOfThread][kColumns];
  C value_acc[kRowsOfThread][kColumns];
  clear(key_acc);
  clear(value_acc);
  const int queries = p.queries(b);
  const int blind = p.causal ? own.begin - (p.keys(b) - queries) : 0;  // queries that see none
  const int start = blind > 0 ? blind / kTile * kTile : 0;
  for (int head = key_head * p.group; head < (key_head + 1) * p.group; ++head) {
    for (int query = start; query < queries; query += kTile) {
      const TokenTile rows{b, query, queries - query < kTile ? queries - query : kTile};
      __syncthreads();  // the tile before is used
      load_queries(p, flow, rows, head, tiles);
      __syncthreads();
      C weights[kRowsOfThread][kKeysOfThread];
      C slopes[kRowsOfThread][kKeysOfThread];
      make_slopes(p, flow, rows, head, own.begin, tiles, weights, slopes);
      share(weights, tiles.weights);
      share(slopes, tiles.slopes);
      __syncthreads();
      add_products<true>(tiles.slopes, tiles.q, rows.count, p.width, key_acc);
      add_products<true>(tiles.weights, tiles.g, rows.count, p.width, value_acc);
    }
  }
  const std::int64_t first = p.key_ptr[b] + own.begin;
  const int key_heads = p.heads / p.group;
  write_rows<T>(key_acc, p.scale, first, own.count, key_heads, key_head, p.width, dk);
  write_rows<T>(value_acc, C{1}, first, own.count, key_heads, key_head, p.width, dv);
}

/// A block takes 32 x 32 elements of the bias's gradient, or all of an extent that it repeats, over
/// the sequences and heads that share them.
template <class T>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    bias_grad_kernel(const AttentionProblem<T> p, const AttentionFlow<T> flow,
                     T* __restrict__ dbias) {
  using C = Compute<T>;
  MOIETY_DYNAMIC_SHARED(memory);
  const GradTiles<C> tiles(memory, p.width);
  const bool each_row = p.bias_extent[2] > 1;
  const bool each_key = p.bias_extent[3] > 1;
  const int slice = static_cast<int>(blockIdx.x) / static_cast<int>(p.bias_extent[1]);
  const int head_slice = static_cast<int>(blockIdx.x) % static_cast<int>(p.bias_extent[1]);
  const bool each_sequence = p.bias_extent[0] > 1;
  const bool each_head = p.bias_extent[1] > 1;
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int first_key = static_cast<int>(blockIdx.z) * kTile;
  C acc[kRowsOfThread][kKeysOfThread];
  clear(acc);
  for (int b = each_sequence ? slice : 0; b < (each_sequence ? slice + 1 : p.sequences); ++b) {
    const int queries = each_row ? min(p.queries(b), first_row + kTile) : p.queries(b);
    for (int head = each_head ? head_slice : 0; head < (each_head ? head_slice + 1 : p.heads);
         ++head) {
      for (int query = first_row; query < queries; query += kTile) {
        const TokenTile rows{b, query, queries - query < kTile ? queries - query : kTile};
        const int seen = p.seen(b, query + rows.count - 1);
        const int keys = each_key ? min(seen, first_key + kTile) : seen;
        for (int key = first_key; key < keys; key += kTile) {
          __syncthreads();  // the tiles before are used
          load_queries(p, flow, rows, head, tiles);
          load_keys(p, b, key, keys - key < kTile ? keys - key : kTile, head / p.group, tiles);
          __syncthreads();
          C weights[kRowsOfThread][kKeysOfThread];
          C slopes[kRowsOfThread][kKeysOfThread];
          make_slopes(p, flow, rows, head, key, tiles, weights, slopes);
#pragma unroll
          for (int r = 0; r < kRowsOfThread; ++r) {
#pragma unroll
            for (int c = 0; c < kKeysOfThread; ++c) acc[r][c] += slopes[r][c];
          }
        }
      }
    }
  }
  share(acc, tiles.slopes);
  __syncthreads();
  T* const out = dbias + slice * p.bias_extent[1] * p.bias_extent[2] * p.bias_extent[3] +
                 head_slice * p.bias_extent[2] * p.bias_extent[3];
  const int rows = each_row ? kTile : 1;
  const int columns = each_key ? kTile : 1;
  for (int at = static_cast<int>(threadIdx.x); at < rows * columns; at += kAttentionBlock) {
    const int row = at / columns;
    const int column = at % columns;
    if (first_row + row >= p.bias_extent[2] || first_key + column >= p.bias_extent[3]) continue;
    C total = 0;
    for (int i = each_row ? row : 0; i < (each_row ? row + 1 : kTile); ++i) {
      for (int j = each_key ? column : 0; j < (each_key ? column + 1 : kTile); ++j) {
        total += tiles.slopes[i * kTilePad + j];
      }
    }
    out[(first_row + row) * p.bias_extent[3] + first_key + column] = narrow<T>(total);
  }
}

template <class T>
void launch_bias_grad(const Stream& stream, const AttentionProblem<T>& problem,
                      const AttentionFlow<T>& flow, const TensorView& dbias) {
  const auto tiles = [](std::int64_t extent) {
    return static_cast<unsigned>((extent + kTile - 1) / kTile);
  };
  const dim3 grid(static_cast<unsigned>(dbias.size(0) * dbias.size(1)), tiles(dbias.size(2)),
                  tiles(dbias.size(3)));
  launch(bias_grad_kernel<T>,
         Threads(grid, dim3(kAttentionBlock),
                 shared_bytes<Compute<T>>(problem.width, kRowTiles, kScoreTiles)),
         stream, problem, flow, dbias.as<T>());
}

template <class T>
void grad_fma(const Stream& stream, const AttentionProblem<T>& problem,
              const AttentionFlow<T>& flow, std::int64_t queries, std::int64_t keys,
              const AttentionGrads& grads) {
  const dim3 query_grid(most_tiles(queries, problem.sequences, kTile),
                        static_cast<unsigned>(problem.heads));
  const dim3 key_grid(most_tiles(keys, problem.sequences, kTile),
                      static_cast<unsigned>(problem.heads / problem.group));
  const std::size_t shared = shared_bytes<Compute<T>>(problem.width, kRowTiles, kScoreTiles);
  visit_columns(problem.width, [&]<int kColumns>() {
    launch(query_grad_kernel<T, kColumns>, Threads(query_grid, dim3(kAttentionBlock), shared),
           stream, problem, flow, grads.q.as<T>());
    launch(key_grad_kernel<T, kColumns>, Threads(key_grid, dim3(kAttentionBlock), shared), stream,
           problem, flow, grads.k.as<T>(), grads.v.as<T>());
  });
}

/// False where they do not take it.
template <class T>
bool grad_on_tensor_cores(const Stream& stream, const AttentionInputs& in,
                          const AttentionProblem<T>& problem, const AttentionFlow<T>& flow,
                          const AttentionGrads& grads) {
  if constexpr (std::is_same_v<T, double>) {
    return false;
  } else {
    if (!fits_tensor_cores(stream, in)) return false;
    attention_grad_mma(stream, problem, flow, in.q.size(0), in.k.size(0), grads);
    return true;
  }
}

}  // namespace

void attention_grad(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                    const TensorView& out, const TensorView& lse, const TensorView& grad,
                    const AttentionGrads& grads) {
  visit_floating(in.q.dtype, [&]<class T>() {
    using C = Compute<T>;
    const AttentionProblem<T> problem(stream, rule, in);
    const std::int64_t rows = lse.numel();
    const Storage products(stream.device(), static_cast<std::size_t>(rows) * sizeof(C));
    auto* const sums = reinterpret_cast<C*>(products.data());
    const AttentionFlow<T> flow{HeadView<const T>(grad), lse.as<C>(), sums};
    launch(row_products_kernel<T>,
           Threads(dim3(blocks_for(rows * kWarp, kAttentionBlock, 1 << 30)), dim3(kAttentionBlock)),
           stream, out.as<T>(), grad.as<T>(), rows, problem.width, sums);
    if (!grad_on_tensor_cores(stream, in, problem, flow, grads)) {
      grad_fma(stream, problem, flow, in.q.size(0), in.k.size(0), grads);
    }
    if (grads.bias.defined()) launch_bias_grad(stream, problem, flow, grads.bias);
  });
}

}  // namespace moiety::kernels::cuda

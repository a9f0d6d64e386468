// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_mma.cuh"

// Scores are made anew from what the forward pass kept. Queries' gradients come from one kernel,
// those of keys and values from another: each block owns what it writes.
namespace moiety::kernels::cuda {
namespace {

/// In units of log 2. Infinity where a query saw nothing, and behind the last one: their weights
/// are 0.
__device__ float lse_in_log2(float lse) { return lse == -INFINITY ? INFINITY : lse * kLog2E; }

/// The gradient of a finished score. A weight of 0 has none, whatever it is multiplied with.
__device__ float slope_of(float weight, float flow, float product) {
  return weight == 0 ? 0.0f : weight * (flow - product);
}

template <class T, int kColumns>
__global__ void __launch_bounds__(kMmaBlock, 2)
    query_grad_mma_kernel(const AttentionProblem<T> p, const AttentionFlow<T> flow,
                          T* __restrict__ dq) {
  MOIETY_DYNAMIC_SHARED(memory);
  constexpr int kKeys = kMmaStep<T, kColumns>;
  const int block_rows = static_cast<int>(blockDim.x) / kWarp * kMmaRows;
  const TokenTile rows =
      find_tile(p.query_ptr, p.sequences, block_rows, static_cast<int>(blockIdx.x));
  if (rows.count == 0) return;
  const int head = static_cast<int>(blockIdx.y);
  const int warp_row = warp_of_thread() * kMmaRows;
  const std::int64_t first_row = p.query_ptr[rows.sequence] + rows.begin;
  const QueryRows own(p, rows, head);
  const MmaTile<T, kColumns> q{reinterpret_cast<T*>(memory)};
  const MmaTile<T, kColumns> grad{q.data + block_rows * kColumns};
  const MmaStages<T, kColumns> keys_and_values{grad.data + block_rows * kColumns};
  const int keys = p.seen(rows.sequence, rows.begin + rows.count - 1);
  const std::int64_t first_key = p.key_ptr[rows.sequence];
  if (keys > 0) {
    q.queue(block_rows, rows.count, p.width,
            [&](int row) { return p.q.row(first_row + row, head); });
    grad.queue(block_rows, rows.count, p.width,
               [&](int row) { return flow.grad.row(first_row + row, head); });
    keys_and_values.queue(p.k, p.v, first_key, keys, head / p.group, p.width, 0);
    cp_async_commit();
  }
  float lse[2];
  float product[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp_row + lane_of_thread() / 4 + 8 * half;
    const bool inside = row < rows.count;
    const std::int64_t place = (first_row + (inside ? row : 0)) * p.heads + head;
    lse[half] = inside ? lse_in_log2(flow.lse[place]) : INFINITY;
    product[half] = inside ? flow.products[place] : 0.0f;
  }
  float acc[kColumns / 8][4];
  clear(acc);
  int stage = 0;
  for (int key = 0; key < keys; key += kKeys, stage ^= 1) {
    if (key + kKeys < keys) {
      keys_and_values.queue(p.k, p.v, first_key + key + kKeys, keys - key - kKeys, head / p.group,
                            p.width, stage ^ 1);
    }
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();  // what others copied is there
    if (key < own.seen_by_any) {
      float weights[kKeys / 8][4];
      clear(weights);
      add_row_products(q, warp_row, keys_and_values.first(stage), weights);
      finish_scores(p, own, key, weights);
      float slopes[kKeys / 8][4];
      clear(slopes);
      add_row_products(grad, warp_row, keys_and_values.second(stage), slopes);
      visit_masks<kKeys / 8>(p, own, key, [&](int n, int i, float mask) {
        const float weight = exp2_approx(weights[n][i] - lse[i / 2]);
        slopes[n][i] = slope_of(weight, slopes[n][i] * mask, product[i / 2]);
      });
      add_weighted_rows(slopes, keys_and_values.first(stage), acc);
    }
    __syncthreads();  // the stage is used
  }
  store_rows(acc, {p.scale, p.scale}, first_row + warp_row, rows.count - warp_row, p.heads, head,
             p.width, dq);
}

/// Keys of a warp in a lane's two rows, as scores [keys, queries] have them.
struct KeyRows {
  int sequence;
  int key;     ///< of the first row, in the sequence; the second is 8 further on
  int count;   ///< keys of the sequence
  int behind;  ///< query i sees keys up to i + behind where attention is causal

  template <class T>
  __device__ KeyRows(const AttentionProblem<T>& p, const TokenTile& rows)
      : sequence(rows.sequence),
        key(rows.begin + warp_of_thread() * kMmaRows + lane_of_thread() / 4),
        count(p.keys(rows.sequence)),
        behind(count - p.queries(rows.sequence)) {}
};

/// The query, of those from `first` on, that element i of tile n belongs to.
__device__ inline int query_of(int first, int n, int i) { return key_of(first, n, i); }

/// Turns products [keys, queries] into scores. Those of queries behind the last one may be
/// anything: their lse is infinite.
template <class T, int kTiles>
__device__ void finish_scores(const AttentionProblem<T>& p, const KeyRows& rows, int head,
                              int first_query, int queries, float (&scores)[kTiles][4]) {
  const float scale = p.scale * kLog2E;
  const bool hides = p.causal && rows.key + 8 > first_query + rows.behind;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = rows.key + i / 2 * 8;
      const int query = query_of(first_query, n, i);
      scores[n][i] *= scale;
      if (hides && key > query + rows.behind) {
        scores[n][i] = -INFINITY;
      } else if (p.bias != nullptr && query < queries && key < rows.count) {
        scores[n][i] += kLog2E * p.bias_of(rows.sequence, head, query, key);
      }
    }
  }
}

/// Lane i of four that are 4 lanes apart gives word m to lane m, which receives it as word i.
__device__ inline void exchange_words(std::array<std::uint32_t, 4>& words) {
#pragma unroll
  for (unsigned bit = 1; bit <= 2; bit *= 2) {
    const bool upper = (static_cast<unsigned>(lane_of_thread()) / 4 & bit) != 0;
#pragma unroll
    for (unsigned pair = 0; pair < 2; ++pair) {
      std::uint32_t& low = words[bit == 1 ? 2 * pair : pair];
      std::uint32_t& high = words[bit == 1 ? 2 * pair + 1 : pair + 2];
      const std::uint32_t other =
          __shfl_xor_sync(kAllLanes, upper ? low : high, static_cast<int>(4 * bit));
      (upper ? low : high) = other;
    }
  }
}

/// Calls f(n, i, mask) for the lane's pairs of [keys, queries]. A call of the generator gives words
/// for four keys of a query, which are in four lanes: each makes those of one of the lane's
/// elements i, for all four.
template <int kTiles, class T, class F>
__device__ void visit_masks(const AttentionProblem<T>& p, const KeyRows& rows, int head,
                            int first_query, const F& f) {
  if (p.threshold == 0) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) f(n, i, 1.0f);
    }
    return;
  }
  const RngKey rng = p.key_place != nullptr ? *p.key_place : p.given_key;
  const int element = lane_of_thread() / 4 % 4;
  const auto key = static_cast<std::uint64_t>((rows.key + element / 2 * 8) / 4 * 4);
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    const int query = query_of(first_query, n, element);
    auto words = philox(rng, (mask_row(p, rows.sequence, head, query) + key) / 4);
    exchange_words(words);
#pragma unroll
    for (int i = 0; i < 4; ++i) f(n, i, mask_of(p, words[static_cast<std::size_t>(i)]));
  }
}

template <class T, int kColumns>
__global__ void __launch_bounds__(kMmaBlock, 2)
    key_grad_mma_kernel(const AttentionProblem<T> p, const AttentionFlow<T> flow,
                        T* __restrict__ dk, T* __restrict__ dv) {
  MOIETY_DYNAMIC_SHARED(memory);
  constexpr int kQueries = kMmaStep<T, kColumns>;
  MOIETY_SHARED(float, lses, [2][kQueries]);
  MOIETY_SHARED(float, products, [2][kQueries]);
  const int block_rows = static_cast<int>(blockDim.x) / kWarp * kMmaRows;
  const TokenTile rows =
      find_tile(p.key_ptr, p.sequences, block_rows, static_cast<int>(blockIdx.x));
  if (rows.count == 0) return;
  const int key_head = static_cast<int>(blockIdx.y);
  const int warp_row = warp_of_thread() * kMmaRows;
  const std::int64_t first_row = p.key_ptr[rows.sequence] + rows.begin;
  const KeyRows own(p, rows);
  const MmaTile<T, kColumns> k{reinterpret_cast<T*>(memory)};
  const MmaTile<T, kColumns> v{k.data + block_rows * kColumns};
  const MmaStages<T, kColumns> queries_and_grads{v.data + block_rows * kColumns};

  const int queries = p.queries(rows.sequence);
  const int blind = p.causal ? rows.begin - own.behind : 0;  // queries that see none of these keys
  const int start = blind > 0 ? blind / kQueries * kQueries : 0;
  const int steps = queries > start ? (queries - start + kQueries - 1) / kQueries : 0;
  const std::int64_t first_query = p.query_ptr[rows.sequence];
  // Step n is for head n / steps of those that share the keys.
  const auto queue = [&](int n, int stage) {
    const int head = key_head * p.group + n / steps;
    const int query = start + n % steps * kQueries;
    queries_and_grads.queue(p.q, flow.grad, first_query + query, queries - query, head, p.width,
                            stage);
    for (int i = static_cast<int>(threadIdx.x); i < kQueries; i += static_cast<int>(blockDim.x)) {
      const bool inside = query + i < queries;
      const std::int64_t place = (first_query + query + (inside ? i : 0)) * p.heads + head;
      lses[stage][i] = inside ? lse_in_log2(flow.lse[place]) : INFINITY;
      products[stage][i] = inside ? flow.products[place] : 0.0f;
    }
  };
  const int all = steps * p.group;
  if (all > 0) {
    k.queue(block_rows, rows.count, p.width,
            [&](int row) { return p.k.row(first_row + row, key_head); });
    v.queue(block_rows, rows.count, p.width,
            [&](int row) { return p.v.row(first_row + row, key_head); });
    queue(0, 0);
    cp_async_commit();
  }
  float key_acc[kColumns / 8][4];
  float value_acc[kColumns / 8][4];
  clear(key_acc);
  clear(value_acc);
  for (int n = 0; n < all; ++n) {
    const int stage = n % 2;
    if (n + 1 < all) queue(n + 1, stage ^ 1);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();  // what others copied is there
    if (warp_row < rows.count) {
      const int head = key_head * p.group + n / steps;
      const int query = start + n % steps * kQueries;
      float weights[kQueries / 8][4];
      clear(weights);
      add_row_products(k, warp_row, queries_and_grads.first(stage), weights);
      finish_scores(p, own, head, query, queries, weights);
      float slopes[kQueries / 8][4];
      clear(slopes);
      add_row_products(v, warp_row, queries_and_grads.second(stage), slopes);
      visit_masks<kQueries / 8>(p, own, head, query, [&](int tile, int i, float mask) {
        const int place = query_of(0, tile, i);
        const float weight = exp2_approx(weights[tile][i] - lses[stage][place]);
        slopes[tile][i] = slope_of(weight, slopes[tile][i] * mask, products[stage][place]);
        weights[tile][i] = weight * mask;
      });
      add_weighted_rows(weights, queries_and_grads.second(stage), value_acc);
      add_weighted_rows(slopes, queries_and_grads.first(stage), key_acc);
    }
    __syncthreads();  // the stage is used
  }
  const int key_heads = p.heads / p.group;
  store_rows(key_acc, {p.scale, p.scale}, first_row + warp_row, rows.count - warp_row, key_heads,
             key_head, p.width, dk);
  store_rows(value_acc, {1.0f, 1.0f}, first_row + warp_row, rows.count - warp_row, key_heads,
             key_head, p.width, dv);
}

}  // namespace

template <class T>
void attention_grad_mma(const Stream& stream, const AttentionProblem<T>& problem,
                        const AttentionFlow<T>& flow, std::int64_t queries, std::int64_t keys,
                        const AttentionGrads& grads) {
  visit_mma_columns(problem.width, [&]<int kColumns>() {
    const auto threads = [&](std::int64_t tokens, int heads) -> Threads {
      const int rows = rows_of_block(tokens, problem.sequences);
      return {
          dim3(most_tiles(tokens, problem.sequences, rows), static_cast<unsigned>(heads)),
          dim3(static_cast<unsigned>(rows / kMmaRows * kWarp)),
          sizeof(T) * static_cast<std::size_t>((2 * rows + 4 * kMmaStep<T, kColumns>)*kColumns)};
    };
    launch(query_grad_mma_kernel<T, kColumns>, threads(queries, problem.heads), stream, problem,
           flow, grads.q.as<T>());
    launch(key_grad_mma_kernel<T, kColumns>, threads(keys, problem.heads / problem.group), stream,
           problem, flow, grads.k.as<T>(), grads.v.as<T>());
  });
}

template void attention_grad_mma(const Stream&, const AttentionProblem<BFloat16>&,
                                 const AttentionFlow<BFloat16>&, std::int64_t, std::int64_t,
                                 const AttentionGrads&);
template void attention_grad_mma(const Stream&, const AttentionProblem<Float16>&,
                                 const AttentionFlow<Float16>&, std::int64_t, std::int64_t,
                                 const AttentionGrads&);
template void attention_grad_mma(const Stream&, const AttentionProblem<float>&,
                                 const AttentionFlow<float>&, std::int64_t, std::int64_t,
                                 const AttentionGrads&);

}  // namespace moiety::kernels::cuda

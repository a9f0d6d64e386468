// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention_problem.cuh"
#include "kernels/cuda/mma_tile.cuh"

// Attention on tensor cores (Dao 2023): a warp takes 16 queries, or 16 keys, of a sequence and
// head. Scores are in units of log 2, so that an exponential is one instruction. For .cu files
// alone.
namespace moiety::kernels::cuda {

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr int kMmaRows = 16;    ///< of a warp
inline constexpr int kMmaBlock = 128;  ///< threads of a block at most

/// Queries or keys that a block reads at a time.
template <class T, int kColumns>
inline constexpr int kMmaStep = 8192 / std::clamp(kColumns* static_cast<int>(sizeof(T)), 128, 512);

/// Whether tensor cores can take it: halves, or f32 whose factors may be rounded, of a head size
/// between 16 and 128 that is a multiple of 8, aligned to 16 bytes.
bool fits_tensor_cores(const Stream& stream, const AttentionInputs& in);

/// The kernels, for T = BFloat16, Float16 and float. `queries` and `keys` are those of all
/// sequences.
template <class T>
void attention_mma(const Stream& stream, const AttentionProblem<T>& problem, std::int64_t queries,
                   const TensorView& out, const TensorView& lse);
template <class T>
void attention_grad_mma(const Stream& stream, const AttentionProblem<T>& problem,
                        const AttentionFlow<T>& flow, std::int64_t queries, std::int64_t keys,
                        const AttentionGrads& grads);

/// Calls f.template operator()<n>() with the columns of the tiles that hold a head.
template <class F>
void visit_mma_columns(int width, const F& f) {
  if (width <= 32) return f.template operator()<32>();
  if (width <= 64) return f.template operator()<64>();
  f.template operator()<128>();
}

/// Queries or keys of a block: short sequences would leave half of its warps idle.
inline int rows_of_block(std::int64_t tokens, int sequences) {
  return tokens <= 2 * kMmaRows * static_cast<std::int64_t>(sequences) ? 2 * kMmaRows
                                                                       : 4 * kMmaRows;
}

/// Two arrays of kRows rows in shared memory, twice: one pair is read while the other is filled.
template <class T, int kColumns>
struct MmaStages {
  using Tile = MmaTile<T, kColumns>;
  static constexpr int kRows = kMmaStep<T, kColumns>;

  T* memory;

  __device__ Tile first(int stage) const { return {memory + 2 * stage * kRows * kColumns}; }
  __device__ Tile second(int stage) const { return {memory + (2 * stage + 1) * kRows * kColumns}; }
  /// Queues rows row .. row + count of one head of each.
  __device__ void queue(const HeadView<const T>& a, const HeadView<const T>& b, std::int64_t row,
                        int count, int head, int width, int stage) const {
    const int rows = min(count, kRows);
    first(stage).queue(kRows, rows, width, [&](int i) { return a.row(row + i, head); });
    second(stage).queue(kRows, rows, width, [&](int i) { return b.row(row + i, head); });
  }
};

/// Queries of a warp in a lane's two rows, as scores [queries, keys] have them.
struct QueryRows {
  int sequence;
  int head;
  int query[2];  ///< number in the sequence
  int seen[2];   ///< keys that it sees; 0 behind the last query
  int seen_by_all;
  int seen_by_any;

  template <class T>
  __device__ QueryRows(const AttentionProblem<T>& p, const TokenTile& rows, int head_of_queries)
      : sequence(rows.sequence), head(head_of_queries) {
    const int first = warp_of_thread() * kMmaRows;
    const int last = min(first + kMmaRows, rows.count) - 1;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + lane_of_thread() / 4 + 8 * half;
      query[half] = rows.begin + row;
      seen[half] = row < rows.count ? p.seen(sequence, query[half]) : 0;
    }
    seen_by_all = p.seen(sequence, rows.begin + first);
    seen_by_any = last < first ? 0 : p.seen(sequence, rows.begin + last);
  }
};

/// The key, of those from `first` on, that element i of tile n belongs to.
__device__ inline int key_of(int first, int n, int i) {
  return first + 8 * n + lane_of_thread() % 4 * 2 + i % 2;
}

/// Turns products [queries, keys] into scores: scaled, biased, minus infinity for pairs that are
/// not there.
template <class T, int kTiles>
__device__ void finish_scores(const AttentionProblem<T>& p, const QueryRows& rows, int first_key,
                              float (&scores)[kTiles][4]) {
  const float scale = p.scale * kLog2E;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) scores[n][i] *= scale;
  }
  if (p.bias != nullptr) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = key_of(first_key, n, i);
        if (key >= rows.seen[i / 2]) continue;
        scores[n][i] += kLog2E * p.bias_of(rows.sequence, rows.head, rows.query[i / 2], key);
      }
    }
  }
  if (first_key + 8 * kTiles <= rows.seen_by_all) return;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (key_of(first_key, n, i) >= rows.seen[i / 2]) scores[n][i] = -INFINITY;
    }
  }
}

/// Number of the first element of a row of the mask.
template <class T>
__device__ std::uint64_t mask_row(const AttentionProblem<T>& p, int sequence, int head, int query) {
  const auto token = static_cast<std::uint64_t>(p.query_ptr[sequence] + query);
  return ((p.first + token) * static_cast<std::uint64_t>(p.heads) +
          static_cast<std::uint64_t>(head)) *
         p.row_stride;
}

/// 0 for what a random word drops, else what the kept ones are multiplied with.
template <class T>
__device__ float mask_of(const AttentionProblem<T>& p, std::uint32_t word) {
  return static_cast<std::int32_t>(word >> 8) < p.threshold ? 0.0f : p.kept;
}

/// Calls f(n, i, mask) for the lane's pairs of [queries, keys]. A call of the generator gives words
/// for four keys of a query: of a pair of lanes one makes those of the first row, the other those
/// of the second, and they exchange halves.
template <int kTiles, class T, class F>
__device__ void visit_masks(const AttentionProblem<T>& p, const QueryRows& rows, int first_key,
                            const F& f) {
  if (p.threshold == 0) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) f(n, i, 1.0f);
    }
    return;
  }
  const RngKey rng = p.key_place != nullptr ? *p.key_place : p.given_key;
  const bool odd = lane_of_thread() % 2 == 1;
  const std::uint64_t first =
      mask_row(p, rows.sequence, rows.head, odd ? rows.query[1] : rows.query[0]) +
      static_cast<std::uint64_t>(first_key + lane_of_thread() % 4 / 2 * 4);
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    const auto words = philox(rng, (first + static_cast<std::uint64_t>(8 * n)) / 4);
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint32_t own = odd ? words[2 + i] : words[i];
      const std::uint32_t other = __shfl_xor_sync(kAllLanes, odd ? words[i] : words[2 + i], 1);
      f(n, static_cast<int>(i), mask_of(p, odd ? other : own));
      f(n, static_cast<int>(i) + 2, mask_of(p, odd ? own : other));
    }
  }
}

/// to [tokens, heads, width] = the warp's 16 rows, those of a lane times scale[0] and scale[1];
/// only the first `count` rows exist. `first` is the token of the first.
template <class T, int kTiles>
__device__ void store_rows(const float (&acc)[kTiles][4], const float (&scale)[2],
                           std::int64_t first, int count, int heads, int head, int width, T* to) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane_of_thread() / 4 + 8 * half;
    if (row >= count) continue;
    T* const line = to + ((first + row) * heads + head) * width + lane_of_thread() % 4 * 2;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      if (8 * n >= width) continue;
      Pack<T, 2> pair;
      pair.v[0] = acc[n][2 * half] * scale[half];
      pair.v[1] = acc[n][2 * half + 1] * scale[half];
      pair.store(line + 8 * n);
    }
  }
}

}  // namespace moiety::kernels::cuda

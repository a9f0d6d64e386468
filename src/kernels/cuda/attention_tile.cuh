// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention_problem.cuh"

// Attention in tiles of 32 queries and 32 keys of one sequence and head: what its kernels share.
// 128 threads; thread t has queries 2 (t / 8) and the one after it, and keys 4 (t % 8) to 4 (t % 8)
// + 3 of the tile's scores. For .cu files alone.
namespace moiety::kernels::cuda {

inline constexpr int kTile = 32;
inline constexpr int kTilePad = kTile + 1;  ///< keeps a warp's accesses in different banks
inline constexpr int kAttentionBlock = 128;
inline constexpr int kRowsOfThread = 2;
inline constexpr int kKeysOfThread = 4;
inline constexpr int kThreadsOfRow = kTile / kKeysOfThread;

/// to [32, width + 1] = rows first .. first + count of a head; 0 behind them.
template <class T>
__device__ void load_rows(const HeadView<const T>& from, std::int64_t first, int count, int head,
                          int width, Compute<T>* to) {
  for (int at = static_cast<int>(threadIdx.x); at < kTile * width; at += kAttentionBlock) {
    const int row = at / width;
    const int column = at % width;
    to[row * (width + 1) + column] =
        row < count ? widen(from.row(first + row, head)[column]) : Compute<T>{0};
  }
}

/// The place of a thread in a tile of scores.
__device__ inline int thread_row() {
  return static_cast<int>(threadIdx.x) / kThreadsOfRow * kRowsOfThread;
}
__device__ inline int thread_key() {
  return static_cast<int>(threadIdx.x) % kThreadsOfRow * kKeysOfThread;
}

/// dots [2][4] = the thread's rows of a times its rows of b, both [32, width + 1].
template <class C>
__device__ void multiply_rows(const C* a, const C* b, int width,
                              C (&dots)[kRowsOfThread][kKeysOfThread]) {
  const C* rows = a + thread_row() * (width + 1);
  const C* keys = b + thread_key() * (width + 1);
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) dots[r][c] = 0;
  }
  for (int d = 0; d < width; ++d) {
    C left[kRowsOfThread];
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) left[r] = rows[r * (width + 1) + d];
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) {
      const C right = keys[c * (width + 1) + d];
#pragma unroll
      for (int r = 0; r < kRowsOfThread; ++r) dots[r][c] += left[r] * right;
    }
  }
}

/// Turns products into scores: scaled, biased, minus infinity for pairs that are not there.
template <class T>
__device__ void finish_scores(const AttentionProblem<T>& p, const TokenTile& rows, int head,
                              int first_key, Compute<T> (&scores)[kRowsOfThread][kKeysOfThread]) {
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    const int i = rows.begin + thread_row() + r;
    const int seen = thread_row() + r < rows.count ? p.seen(rows.sequence, i) : 0;
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) {
      const int j = first_key + thread_key() + c;
      scores[r][c] = j < seen ? scores[r][c] * p.scale + p.bias_of(rows.sequence, head, i, j)
                              : -static_cast<Compute<T>>(INFINITY);
    }
  }
}

/// The mask of a thread's pairs of one query: 0, or what the kept ones are multiplied with.
template <class T>
__device__ void mask_of(const AttentionProblem<T>& p, const TokenTile& rows, int head, int r,
                        int first_key, Compute<T> (&mask)[kKeysOfThread]) {
  if (p.threshold == 0) {
#pragma unroll
    for (int c = 0; c < kKeysOfThread; ++c) mask[c] = 1;
    return;
  }
  const RngKey key = p.key_place != nullptr ? *p.key_place : p.given_key;
  const auto query =
      static_cast<std::uint64_t>(p.query_ptr[rows.sequence] + rows.begin + thread_row() + r);
  const std::uint64_t row =
      (p.first + query) * static_cast<std::uint64_t>(p.heads) + static_cast<std::uint64_t>(head);
  const std::uint64_t number = row * p.row_stride + static_cast<std::uint64_t>(first_key) +
                               static_cast<std::uint64_t>(thread_key());
  const auto words = philox(key, number / kKeysOfThread);  // row_stride is a multiple of 4
#pragma unroll
  for (int c = 0; c < kKeysOfThread; ++c) {
    const bool drops =
        static_cast<std::int32_t>(words[static_cast<std::size_t>(c)] >> 8) < p.threshold;
    mask[c] = drops ? Compute<T>{0} : p.kept;
  }
}

/// Bytes of a block's tiles of rows, and of tiles of scores.
template <class C>
std::size_t shared_bytes(int width, int row_tiles, int score_tiles) {
  return sizeof(C) * static_cast<std::size_t>(kTile) *
         static_cast<std::size_t>(row_tiles * (width + 1) + score_tiles * kTilePad);
}

/// Calls f.template operator()<n>() with the columns of a head that a thread takes.
template <class F>
void visit_columns(int width, const F& f) {
  if (width <= 4 * kThreadsOfRow) return f.template operator()<4>();
  if (width <= 8 * kThreadsOfRow) return f.template operator()<8>();
  check<ShapeError>(width <= 16 * kThreadsOfRow, "attention: heads of ", width,
                    " are too wide for a GPU, which takes up to ", 16 * kThreadsOfRow);
  f.template operator()<16>();
}

}  // namespace moiety::kernels::cuda

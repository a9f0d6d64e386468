// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/attention.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/simt.cuh"

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

/// Rows of one head of [tokens, heads, head size].
template <class T>
struct HeadView {
  T* data;
  std::int64_t token_stride;
  std::int64_t head_stride;

  explicit HeadView(const TensorView& view)
      : data(view.as<std::remove_const_t<T>>()),
        token_stride(view.strides[0]),
        head_stride(view.strides[1]) {}
  __device__ T* row(std::int64_t token, int head) const {
    return data + token * token_stride + head * head_stride;
  }
};

/// What the scores depend on, as a kernel takes it.
template <class T>
struct AttentionProblem {
  using C = Compute<T>;

  HeadView<const T> q, k, v;
  const std::int32_t* query_ptr;
  const std::int32_t* key_ptr;
  int sequences;
  int heads;
  int group;  ///< heads of queries for each of keys
  int width;
  C scale;
  bool causal;
  const T* bias;  ///< null: none
  std::int64_t bias_extent[4];
  std::int64_t bias_stride[4];  ///< 0 along extents that it repeats
  FaultReport bad_bias;
  std::int32_t threshold;  ///< random numbers below it drop; 0: none do
  C kept;                  ///< 1 / (1 - dropout)
  RngKey given_key;
  const RngKey* key_place;
  std::uint64_t first;
  std::uint64_t row_stride;

  AttentionProblem(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in)
      : q(in.q),
        k(in.k),
        v(in.v),
        query_ptr(in.query_ptr.as<std::int32_t>()),
        key_ptr(in.key_ptr.as<std::int32_t>()),
        sequences(static_cast<int>(in.query_ptr.numel() - 1)),
        heads(static_cast<int>(in.q.size(1))),
        group(static_cast<int>(in.q.size(1) / in.k.size(1))),
        width(static_cast<int>(in.q.size(2))),
        scale(static_cast<C>(rule.scale)),
        causal(rule.causal),
        bias(in.bias.defined() ? in.bias.as<T>() : nullptr),
        bad_bias(fault_report(stream, "attention", "bias")),
        threshold(static_cast<std::int32_t>(std::ceil(rule.dropout * 0x1p24))),
        kept(static_cast<C>(1.0 / (1.0 - rule.dropout))),
        given_key(rule.key.given),
        key_place(rule.key.place()),
        first(rule.first),
        row_stride(static_cast<std::uint64_t>(rule.row_stride)) {
    for (int d = 0; d < 4; ++d) {
      bias_extent[d] = bias != nullptr ? in.bias.size(d) : 1;
      bias_stride[d] = bias != nullptr && in.bias.size(d) > 1 ? in.bias.strides[d] : 0;
    }
  }

  __device__ int queries(int b) const { return query_ptr[b + 1] - query_ptr[b]; }
  __device__ int keys(int b) const { return key_ptr[b + 1] - key_ptr[b]; }
  /// Keys that query i of sequence b may see: the first so many.
  __device__ int seen(int b, int i) const {
    const int all = keys(b);
    if (!causal) return all;
    const int limit = i + 1 + all - queries(b);
    return limit < 0 ? 0 : limit < all ? limit : all;
  }
  /// The bias of a pair; what it does not reach is reported and counts as 0.
  __device__ C bias_of(int b, int h, int i, int j) const {
    if (bias == nullptr) return 0;
    if (bias_stride[2] != 0 && !bad_bias.check(i, bias_extent[2], b)) return 0;
    if (bias_stride[3] != 0 && !bad_bias.check(j, bias_extent[3], b)) return 0;
    return widen(
        bias[b * bias_stride[0] + h * bias_stride[1] + i * bias_stride[2] + j * bias_stride[3]]);
  }
};

/// Up to 32 tokens of a sequence.
struct TokenTile {
  int sequence;
  int begin;  ///< token within the sequence
  int count;  ///< 0: no such tile
};

/// Tokens are cut into tiles sequence by sequence. Tile n of sequence b has number
/// ptr[b] / 32 + b + n: no two are the same, and all are below tokens / 32 + sequences, so a launch
/// needs no look at the pointers.
__device__ inline TokenTile find_tile(const std::int32_t* ptr, int sequences, int number) {
  int low = 0;  // the last sequence whose first tile is not beyond the number
  int high = sequences;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (ptr[middle] / kTile + middle <= number) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const int begin = (number - (ptr[low] / kTile + low)) * kTile;
  const int rest = ptr[low + 1] - ptr[low] - begin;
  return {low, begin, rest < 0 ? 0 : rest < kTile ? rest : kTile};
}
inline unsigned most_tiles(std::int64_t tokens, std::int64_t sequences) {
  return static_cast<unsigned>(tokens / kTile + sequences);
}

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/attention.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/simt.cuh"

// What all attention kernels share: their operands, and how tokens are cut into tiles. For .cu
// files alone.
namespace moiety::kernels::cuda {

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

/// What the backward pass reads beside the inputs.
template <class T>
struct AttentionFlow {
  HeadView<const T> grad;      ///< [Tq, H, D]
  const Compute<T>* lse;       ///< [Tq, H]
  const Compute<T>* products;  ///< [Tq, H]: of each output row with its gradient
};

/// Some tokens of a sequence.
struct TokenTile {
  int sequence;
  int begin;  ///< token within the sequence
  int count;  ///< 0: no such tile
};

/// Tokens are cut into tiles of `size` sequence by sequence. Tile n of sequence b has number
/// ptr[b] / size + b + n: no two are the same, and all are below tokens / size + sequences, so a
/// launch needs no look at the pointers. All lanes of a warp look for the same one.
__device__ inline TokenTile find_tile(const std::int32_t* ptr, int sequences, int size,
                                      int number) {
  int low = 0;  // the last sequence whose first tile is not beyond the number
  int high = sequences;
  while (high - low > 1) {
    const int step = (high - low + kWarp - 1) / kWarp;
    const int probe = low + static_cast<int>(threadIdx.x) % kWarp * step;
    const bool fits = probe < high && ptr[probe] / size + probe <= number;
    low += (kWarp - 1 - __clz(static_cast<int>(__ballot_sync(kAllLanes, fits)))) * step;
    high = min(high, low + step);
  }
  const int begin = (number - (ptr[low] / size + low)) * size;
  const int rest = ptr[low + 1] - ptr[low] - begin;
  return {low, begin, rest < 0 ? 0 : rest < size ? rest : size};
}
inline unsigned most_tiles(std::int64_t tokens, std::int64_t sequences, int size) {
  return static_cast<unsigned>(tokens / size + sequences);
}

}  // namespace moiety::kernels::cuda

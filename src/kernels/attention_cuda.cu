// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_mma.cuh"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/cudnn_attention.h"
#include "kernels/cuda/reduce.cuh"

namespace moiety::kernels::cuda {
namespace {

/// A block takes 32 queries of a sequence and head over all keys that they see. A thread has two
/// rows of the output and every eighth column of them, kColumns in all.
template <class T, int kColumns>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    attention_kernel(const AttentionProblem<T> p, T* __restrict__ out,
                     Compute<T>* __restrict__ lse) {
  using C = Compute<T>;
  MOIETY_DYNAMIC_SHARED(memory);
  const TokenTile rows = find_tile(p.query_ptr, p.sequences, kTile, static_cast<int>(blockIdx.x));
  if (rows.count == 0) return;
  const int head = static_cast<int>(blockIdx.y);
  const int stride = p.width + 1;
  C* const q = reinterpret_cast<C*>(memory);
  C* const k = q + kTile * stride;
  C* const v = k + kTile * stride;
  C* const weights = v + kTile * stride;  // [32, 33]
  const std::int64_t first_row = p.query_ptr[rows.sequence] + rows.begin;
  const std::int64_t first_key = p.key_ptr[rows.sequence];
  load_rows(p.q, first_row, rows.count, head, p.width, q);

  C top[kRowsOfThread];
  C sum[kRowsOfThread];
  C acc[kRowsOfThread][kColumns];
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    top[r] = -static_cast<C>(INFINITY);
    sum[r] = 0;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) acc[r][n] = 0;
  }
  const int column = static_cast<int>(threadIdx.x) % kThreadsOfRow;
  const int keys = p.seen(rows.sequence, rows.begin + rows.count - 1);
  for (int key = 0; key < keys; key += kTile) {
    const int count = keys - key < kTile ? keys - key : kTile;
    __syncthreads();  // the tile before is used
    load_rows(p.k, first_key + key, count, head / p.group, p.width, k);
    load_rows(p.v, first_key + key, count, head / p.group, p.width, v);
    __syncthreads();
    C scores[kRowsOfThread][kKeysOfThread];
    multiply_rows(q, k, p.width, scores);
    finish_scores(p, rows, head, key, scores);
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      C largest = scores[r][0];
#pragma unroll
      for (int c = 1; c < kKeysOfThread; ++c) largest = Max{}(largest, scores[r][c]);
      largest = Max{}(top[r], warp_reduce<kThreadsOfRow>(largest, Max{}));
      const bool none = largest == -static_cast<C>(INFINITY);  // seen so far
      const C shrink = none ? C{1} : std::exp(top[r] - largest);
      top[r] = largest;
      C mask[kKeysOfThread];
      mask_of(p, rows, head, r, key, mask);
      C total = 0;
#pragma unroll
      for (int c = 0; c < kKeysOfThread; ++c) {
        const C weight = none ? C{0} : std::exp(scores[r][c] - largest);
        total += weight;
        weights[(thread_row() + r) * kTilePad + thread_key() + c] = weight * mask[c];
      }
      sum[r] = sum[r] * shrink + warp_reduce<kThreadsOfRow>(total, Sum{});
#pragma unroll
      for (int n = 0; n < kColumns; ++n) acc[r][n] *= shrink;
    }
    __syncwarp();  // a row's weights come from the warp that reads them
    for (int j = 0; j < count; ++j) {
      C weight[kRowsOfThread];
#pragma unroll
      for (int r = 0; r < kRowsOfThread; ++r)
        weight[r] = weights[(thread_row() + r) * kTilePad + j];
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        const int d = column + n * kThreadsOfRow;
        const C value = d < p.width ? v[j * stride + d] : C{0};
#pragma unroll
        for (int r = 0; r < kRowsOfThread; ++r) acc[r][n] += weight[r] * value;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    const int row = thread_row() + r;
    if (row >= rows.count) continue;
    const std::int64_t place = (first_row + row) * p.heads + head;
    const C scale = sum[r] == C{0} ? C{0} : C{1} / sum[r];  // nothing was seen: 0, not NaN
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const int d = column + n * kThreadsOfRow;
      if (d < p.width) out[place * p.width + d] = narrow<T>(acc[r][n] * scale);
    }
    if (column == 0) lse[place] = top[r] + std::log(sum[r]);
  }
}

template <class T>
void attention_fma(const Stream& stream, const AttentionProblem<T>& problem, std::int64_t queries,
                   const TensorView& out, const TensorView& lse) {
  const dim3 grid(most_tiles(queries, problem.sequences, kTile),
                  static_cast<unsigned>(problem.heads));
  const std::size_t shared = shared_bytes<Compute<T>>(problem.width, 3, 1);
  visit_columns(problem.width, [&]<int kColumns>() {
    launch(attention_kernel<T, kColumns>, Threads(grid, dim3(kAttentionBlock), shared), stream,
           problem, out.as<T>(), lse.as<Compute<T>>());
  });
}

}  // namespace

void attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
               const TensorView& out, const TensorView& lse) {
  const bool halves = in.q.dtype == DType::bf16 || in.q.dtype == DType::f16;
  if (rule.library == AttentionLibrary::cudnn && halves) {
    return cudnn_attention(stream, rule, in, out, lse);
  }
  visit_floating(in.q.dtype, [&]<class T>() {
    const AttentionProblem<T> problem(stream, rule, in);
    if constexpr (!std::is_same_v<T, double>) {
      if (fits_tensor_cores(stream, in)) {
        return attention_mma(stream, problem, in.q.size(0), out, lse);
      }
    }
    attention_fma(stream, problem, in.q.size(0), out, lse);
  });
}

}  // namespace moiety::kernels::cuda

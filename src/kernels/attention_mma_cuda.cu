// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_mma.cuh"
#include "kernels/cuda/reduce.cuh"

namespace moiety::kernels::cuda {
namespace {

/// Of a lane's two rows, the largest score so far and the sum of exponentials; the lanes of a row
/// hold a part of the sum each.
struct RunningRows {
  float top[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};

  /// Scores become weights against the largest of them all; `shrink` is what sums so far are worth.
  template <int kTiles>
  __device__ void take(float (&scores)[kTiles][4], float (&shrink)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = top[half];
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        largest = Max{}(largest, Max{}(scores[n][2 * half], scores[n][2 * half + 1]));
      }
      largest = warp_reduce<4>(largest, Max{});
      const float base = largest == -INFINITY ? 0.0f : largest;  // nothing was seen yet
      shrink[half] = exp2_approx(top[half] - base);
      top[half] = largest;
      sum[half] *= shrink[half];
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[n][i] = exp2_approx(scores[n][i] - base);
          sum[half] += scores[n][i];
        }
      }
    }
  }
};

template <class T, int kColumns>
__global__ void __launch_bounds__(kMmaBlock, kColumns <= 64 ? 3 : 2)
    attention_mma_kernel(const AttentionProblem<T> p, T* __restrict__ out,
                         float* __restrict__ lse) {
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
  const MmaStages<T, kColumns> keys_and_values{q.data + block_rows * kColumns};

  RunningRows running;
  float acc[kColumns / 8][4];
  clear(acc);
  const int keys = p.seen(rows.sequence, rows.begin + rows.count - 1);
  const std::int64_t first_key = p.key_ptr[rows.sequence];
  if (keys > 0) {
    q.queue(block_rows, rows.count, p.width,
            [&](int row) { return p.q.row(first_row + row, head); });
    keys_and_values.queue(p.k, p.v, first_key, keys, head / p.group, p.width, 0);
    cp_async_commit();
  }
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
      float shrink[2];
      running.take(weights, shrink);
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[n][i] *= shrink[i / 2];
      }
      if (p.threshold != 0) {
        visit_masks<kKeys / 8>(p, own, key,
                               [&](int n, int i, float mask) { weights[n][i] *= mask; });
      }
      add_weighted_rows(weights, keys_and_values.second(stage), acc);
    }
    __syncthreads();  // the stage is used
  }
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = warp_reduce<4>(running.sum[half], Sum{});
    scale[half] = sum == 0 ? 0.0f : 1 / sum;  // nothing was seen: 0, not NaN
    const int row = warp_row + lane_of_thread() / 4 + 8 * half;
    if (lane_of_thread() % 4 == 0 && row < rows.count) {
      lse[(first_row + row) * p.heads + head] = running.top[half] / kLog2E + std::log(sum);
    }
  }
  store_rows(acc, scale, first_row + warp_row, rows.count - warp_row, p.heads, head, p.width, out);
}

}  // namespace

bool fits_tensor_cores(const Stream& stream, const AttentionInputs& in) {
  const DType dtype = in.q.dtype;
  const bool rounds = dtype == DType::f32 && stream.device().fast_products();
  const std::int64_t width = in.q.size(2);
  if ((dtype != DType::bf16 && dtype != DType::f16 && !rounds) || width < 16 || width > 128 ||
      width % 8 != 0) {
    return false;
  }
  const auto aligned = [&](const TensorView& x) {
    const auto unit = static_cast<std::int64_t>(16 / size_of(dtype));
    return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.strides[0] % unit == 0 &&
           x.strides[1] % unit == 0;
  };
  return aligned(in.q) && aligned(in.k) && aligned(in.v);
}

template <class T>
void attention_mma(const Stream& stream, const AttentionProblem<T>& problem, std::int64_t queries,
                   const TensorView& out, const TensorView& lse) {
  const int rows = rows_of_block(queries, problem.sequences);
  const dim3 grid(most_tiles(queries, problem.sequences, rows),
                  static_cast<unsigned>(problem.heads));
  const dim3 block(static_cast<unsigned>(rows / kMmaRows * kWarp));
  visit_mma_columns(problem.width, [&]<int kColumns>() {
    const auto shared = static_cast<std::size_t>((rows + 4 * kMmaStep<T, kColumns>)*kColumns);
    launch(attention_mma_kernel<T, kColumns>, Threads(grid, block, sizeof(T) * shared), stream,
           problem, out.as<T>(), lse.as<float>());
  });
}

template void attention_mma(const Stream&, const AttentionProblem<BFloat16>&, std::int64_t,
                            const TensorView&, const TensorView&);
template void attention_mma(const Stream&, const AttentionProblem<Float16>&, std::int64_t,
                            const TensorView&, const TensorView&);
template void attention_mma(const Stream&, const AttentionProblem<float>&, std::int64_t,
                            const TensorView&, const TensorView&);

}  // namespace moiety::kernels::cuda

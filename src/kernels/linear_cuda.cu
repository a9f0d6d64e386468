// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/partials.cuh"
#include "kernels/matmul.h"
#include "kernels/optional_view.h"

namespace moiety::kernels::cuda {
namespace {

/// A block takes `chunk` rows: masked = grad where out > 0 (NaN counts as that), and the rows' sum
/// goes to sums[block]. masked (no mask) and sums may be nullptr. grad, out, masked [rows,
/// columns], sums [blocks, columns].
template <class T, int kCount>
__global__ void epilogue_backward_kernel(const T* __restrict__ grad, const T* __restrict__ out,
                                         std::int64_t rows, std::int64_t chunk,
                                         std::int64_t columns, T* __restrict__ masked,
                                         Compute<T>* __restrict__ sums) {
  MOIETY_SHARED(Compute<T>, partial, [kRowBlock * kCount]);
  const std::int64_t begin = blockIdx.x * chunk;
  const std::int64_t end = begin + chunk < rows ? begin + chunk : rows;
  const std::int64_t c = team_column(kCount);
  Pack<T, kCount> sum;
  sum.fill(0);
  if (c < columns) {
    for (std::int64_t n = begin + threadIdx.y; n < end; n += blockDim.y) {
      Pack<T, kCount> g;
      g.load(grad + n * columns + c);
      if (masked != nullptr) {
        Pack<T, kCount> y;
        y.load(out + n * columns + c);
#pragma unroll
        for (int k = 0; k < kCount; ++k) g.v[k] = y.v[k] <= 0 ? 0 : g.v[k];
        g.store(masked + n * columns + c);
      }
#pragma unroll
      for (int k = 0; k < kCount; ++k) sum.v[k] += g.v[k];
    }
  }
  if (sums == nullptr) return;
  add_teams(sum, partial);
  if (threadIdx.y > 0 || c >= columns) return;
#pragma unroll
  for (int k = 0; k < kCount; ++k) sums[blockIdx.x * columns + c + k] = sum.v[k];
}

/// Rows a block, for short sums in each thread and few blocks to add up.
std::int64_t rows_of_block(std::int64_t rows, std::int64_t teams) {
  constexpr std::int64_t kFewestRows = 8;  // a team
  constexpr std::int64_t kMostBlocks = 512;
  const std::int64_t a_team = (rows + kMostBlocks * teams - 1) / (kMostBlocks * teams);
  return teams * std::max(kFewestRows, a_team);
}

}  // namespace

void linear_epilogue_backward(const Stream& stream, const TensorView& grad_view,
                              const TensorView& out_view, const TensorView& masked_view,
                              const TensorView& dbias_view) {
  const std::int64_t rows = grad_view.shape[0];
  const std::int64_t columns = grad_view.shape[1];
  visit_floating(grad_view.dtype, [&]<class T>() {
    const T* grad = grad_view.as<T>();
    T* masked = cpu::data_or_null<T>(masked_view);
    T* dbias = cpu::data_or_null<T>(dbias_view);
    const T* out = masked != nullptr ? out_view.as<T>() : nullptr;
    if (columns == 0 || (masked == nullptr && dbias == nullptr)) return;
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          Threads threads = row_threads(rows, columns, kCount);
          const std::int64_t chunk = rows_of_block(rows, threads.block.y);
          const std::int64_t chunks = std::max<std::int64_t>((rows + chunk - 1) / chunk, 1);
          threads.grid.x = static_cast<unsigned>(chunks);
          if (dbias == nullptr) {
            launch(epilogue_backward_kernel<T, kCount>, threads, stream, grad, out, rows, chunk,
                   columns, masked, static_cast<Compute<T>*>(nullptr));
            return;
          }
          const Partials<T> partials(stream, chunks, columns, dbias);
          launch(epilogue_backward_kernel<T, kCount>, threads, stream, grad, out, rows, chunk,
                 columns, masked, partials.data());
          partials.add();
        },
        grad, out, masked);
  });
}

}  // namespace moiety::kernels::cuda

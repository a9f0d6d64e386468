// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/segment.h"

namespace moiety::kernels::cuda {
namespace {

template <class F>
__device__ F segment_factor(SegmentScale scale, std::int64_t rows) {
  return scale == SegmentScale::by_size && rows > 0 ? F{1} / static_cast<F>(rows) : F{1};
}

/// A team sums the rows of one segment.
template <class T, int kCount>
__global__ void segment_sum_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ ptr,
                                   std::int64_t segments, std::int64_t columns, SegmentScale scale,
                                   T* __restrict__ out) {
  const std::int64_t m = team_row();
  const std::int64_t c = team_column(kCount);
  if (m >= segments || c >= columns) return;
  const std::int64_t first = ptr[m];
  const std::int64_t last = ptr[m + 1];
  Pack<T, kCount> sum;
  sum.fill(0);
  for (std::int64_t n = first; n < last; ++n) {
    Pack<T, kCount> term;
    term.load(x + n * columns + c);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum.v[i] += term.v[i];
  }
  const auto factor = segment_factor<Compute<T>>(scale, last - first);
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum.v[i] *= factor;
  sum.store(out + m * columns + c);
}

/// Few long segments: the teams of a block share one, each every blockDim.y-th row, and add their
/// sums in the order of the teams.
template <class T, int kCount>
__global__ void long_segment_sum_kernel(const T* __restrict__ x,
                                        const std::int32_t* __restrict__ ptr, std::int64_t columns,
                                        SegmentScale scale, T* __restrict__ out) {
  MOIETY_SHARED(Compute<T>, partial, [kRowBlock * kCount]);
  const std::int64_t m = blockIdx.x;
  const std::int64_t c = team_column(kCount);
  const std::int64_t first = ptr[m];
  const std::int64_t last = ptr[m + 1];
  Pack<T, kCount> sum;
  sum.fill(0);
  if (c < columns) {
    for (std::int64_t n = first + threadIdx.y; n < last; n += blockDim.y) {
      Pack<T, kCount> term;
      term.load(x + n * columns + c);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum.v[i] += term.v[i];
    }
  }
  const int place = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x) * kCount;
  for (int i = 0; i < kCount; ++i) partial[place + i] = sum.v[i];
  __syncthreads();
  if (threadIdx.y > 0 || c >= columns) return;
  for (unsigned team = 1; team < blockDim.y; ++team) {
    const int other = static_cast<int>(team * blockDim.x + threadIdx.x) * kCount;
    for (int i = 0; i < kCount; ++i) sum.v[i] += partial[other + i];
  }
  const auto factor = segment_factor<Compute<T>>(scale, last - first);
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum.v[i] *= factor;
  sum.store(out + m * columns + c);
}

template <class T, int kCount>
__global__ void segment_broadcast_kernel(const T* __restrict__ y,
                                         const std::int32_t* __restrict__ ptr,
                                         std::int64_t segments, std::int64_t columns,
                                         SegmentScale scale, T* __restrict__ out) {
  const std::int64_t m = team_row();
  const std::int64_t c = team_column(kCount);
  if (m >= segments || c >= columns) return;
  const std::int64_t first = ptr[m];
  const std::int64_t last = ptr[m + 1];
  Pack<T, kCount> value;
  value.load(y + m * columns + c);
  const auto factor = segment_factor<Compute<T>>(scale, last - first);
#pragma unroll
  for (int i = 0; i < kCount; ++i) value.v[i] *= factor;
  for (std::int64_t n = first; n < last; ++n) value.store(out + n * columns + c);
}

template <class T>
__global__ void segment_max_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ ptr,
                                   std::int64_t segments, std::int64_t columns, T* __restrict__ out,
                                   std::int32_t* __restrict__ row) {
  const std::int64_t m = team_row();
  const std::int64_t c = team_column(1);
  if (m >= segments || c >= columns) return;
  const std::int32_t first = ptr[m];
  const std::int32_t last = ptr[m + 1];
  T best = narrow<T>(0);
  std::int32_t best_row = -1;
  for (std::int32_t n = first; n < last; ++n) {
    const T candidate = x[n * columns + c];
    const auto value = widen(candidate);
    const auto so_far = widen(best);
    const bool larger = value > so_far || (value != value && so_far == so_far);
    if (n == first || larger) {
      best = candidate;
      best_row = n;
    }
  }
  out[m * columns + c] = best;
  row[m * columns + c] = best_row;
}

template <class T>
__global__ void segment_pick_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ row,
                                    std::int64_t segments, std::int64_t columns,
                                    T* __restrict__ out) {
  const std::int64_t m = team_row();
  const std::int64_t c = team_column(1);
  if (m >= segments || c >= columns) return;
  const std::int64_t at = row[m * columns + c];
  out[m * columns + c] = at < 0 ? narrow<T>(0) : x[at * columns + c];
}

template <class T>
__global__ void segment_place_kernel(const T* __restrict__ y, const std::int32_t* __restrict__ row,
                                     const std::int32_t* __restrict__ ptr, std::int64_t segments,
                                     std::int64_t columns, T* __restrict__ out) {
  const std::int64_t m = team_row();
  const std::int64_t c = team_column(1);
  if (m >= segments || c >= columns) return;
  const T value = y[m * columns + c];
  const std::int32_t at = row[m * columns + c];
  for (std::int32_t n = ptr[m]; n < ptr[m + 1]; ++n) {
    out[n * columns + c] = n == at ? value : narrow<T>(0);
  }
}

/// From this many rows a segment on average, a block each pays.
constexpr std::int64_t kLongSegment = 256;

}  // namespace

void segment_sum(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 SegmentScale scale, const TensorView& out) {
  const std::int64_t segments = out.shape[0];
  const std::int64_t columns = out.shape[1];
  const bool are_long = x.shape[0] >= kLongSegment * std::max<std::int64_t>(segments, 1);
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = out.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          Threads threads = row_threads(segments, columns, kCount);
          if (are_long) {
            threads.grid.x = static_cast<unsigned>(segments);
            launch(long_segment_sum_kernel<T, kCount>, threads, stream, from,
                   ptr.as<std::int32_t>(), columns, scale, to);
          } else {
            launch(segment_sum_kernel<T, kCount>, threads, stream, from, ptr.as<std::int32_t>(),
                   segments, columns, scale, to);
          }
        },
        from, to);
  });
}

void segment_broadcast(const Stream& stream, const TensorView& y, const TensorView& ptr,
                       SegmentScale scale, const TensorView& out) {
  const std::int64_t segments = y.shape[0];
  const std::int64_t columns = y.shape[1];
  visit_floating(y.dtype, [&]<class T>() {
    const T* from = y.as<T>();
    T* to = out.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          launch(segment_broadcast_kernel<T, kCount>, row_threads(segments, columns, kCount),
                 stream, from, ptr.as<std::int32_t>(), segments, columns, scale, to);
        },
        from, to);
  });
}

void segment_max(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 const TensorView& out, const TensorView& row) {
  const std::int64_t segments = out.shape[0];
  const std::int64_t columns = out.shape[1];
  visit_floating(x.dtype, [&]<class T>() {
    launch(segment_max_kernel<T>, row_threads(segments, columns, 1), stream, x.as<T>(),
           ptr.as<std::int32_t>(), segments, columns, out.as<T>(), row.as<std::int32_t>());
  });
}

void segment_pick(const Stream& stream, const TensorView& x, const TensorView& row,
                  const TensorView& out) {
  const std::int64_t segments = out.shape[0];
  const std::int64_t columns = out.shape[1];
  visit_floating(x.dtype, [&]<class T>() {
    launch(segment_pick_kernel<T>, row_threads(segments, columns, 1), stream, x.as<T>(),
           row.as<std::int32_t>(), segments, columns, out.as<T>());
  });
}

void segment_place(const Stream& stream, const TensorView& y, const TensorView& row,
                   const TensorView& ptr, const TensorView& out) {
  const std::int64_t segments = y.shape[0];
  const std::int64_t columns = y.shape[1];
  visit_floating(y.dtype, [&]<class T>() {
    launch(segment_place_kernel<T>, row_threads(segments, columns, 1), stream, y.as<T>(),
           row.as<std::int32_t>(), ptr.as<std::int32_t>(), segments, columns, out.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

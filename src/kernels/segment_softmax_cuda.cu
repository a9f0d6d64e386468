// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/running_softmax.cuh"
#include "kernels/cuda/tiles.cuh"
#include "kernels/segment.h"

// The threads of a tile share the rows of a segment: as many of them side by side as its rows are
// long on average. Columns are few (attention heads), so threads are found along the rows.
namespace moiety::kernels::cuda {
namespace {

/// The rows of this thread's segment and column that it walks, and where its column begins.
struct Rows {
  std::int64_t first;
  std::int64_t last;
  std::int64_t step;
  std::int64_t columns;
  std::int64_t column;

  __device__ Rows(const Tiles& tiles, const std::int32_t* ptr)
      : first(0), last(0), step(tiles.row_step()), columns(tiles.columns), column(tiles.b()) {
    if (!tiles.inside()) return;
    first = ptr[tiles.a()] + tiles.row_place();
    last = ptr[tiles.a() + 1];
  }
  __device__ std::int64_t place(std::int64_t n) const { return n * columns + column; }
};

template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    segment_softmax_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ ptr,
                           const Tiles tiles, T* __restrict__ out) {
  using F = Compute<T>;
  MOIETY_SHARED(RunningSoftmax<F>, values, [kTileThreads]);
  const Rows rows(tiles, ptr);
  auto sum = JoinSoftmax::identity<RunningSoftmax<F>>();
  for (std::int64_t n = rows.first; n < rows.last; n += rows.step) {
    sum.take(widen(x[rows.place(n)]));
  }
  sum = share_rows(tiles, sum, JoinSoftmax{}, values);
  const F scale = F{1} / sum.total;
  for (std::int64_t n = rows.first; n < rows.last; n += rows.step) {
    const std::int64_t at = rows.place(n);
    out[at] = narrow<T>(std::exp(widen(x[at]) - sum.top) * scale);
  }
}

template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    segment_softmax_backward_kernel(const T* __restrict__ y, const T* __restrict__ grad,
                                    const std::int32_t* __restrict__ ptr, const Tiles tiles,
                                    T* __restrict__ dx) {
  using F = Compute<T>;
  MOIETY_SHARED(F, values, [kTileThreads]);
  const Rows rows(tiles, ptr);
  F sum = 0;
  for (std::int64_t n = rows.first; n < rows.last; n += rows.step) {
    const std::int64_t at = rows.place(n);
    sum += widen(y[at]) * widen(grad[at]);
  }
  sum = share_rows(tiles, sum, Sum{}, values);
  for (std::int64_t n = rows.first; n < rows.last; n += rows.step) {
    const std::int64_t at = rows.place(n);
    dx[at] = narrow<T>(widen(y[at]) * (widen(grad[at]) - sum));
  }
}

/// Tiles for the segments of x [N, C].
Tiles segment_tiles(const TensorView& x, const TensorView& ptr) {
  const std::int64_t segments = ptr.numel() - 1;
  const std::int64_t average = x.shape[0] / std::max<std::int64_t>(segments, 1);
  return whole_tiles(segments, average, x.shape[1], static_cast<std::int64_t>(size_of(x.dtype)));
}

}  // namespace

void segment_softmax(const Stream& stream, const TensorView& x, const TensorView& ptr,
                     const TensorView& out) {
  const Tiles tiles = segment_tiles(x, ptr);
  visit_floating(x.dtype, [&]<class T>() {
    launch(segment_softmax_kernel<T>, tiles.threads(), stream, x.as<T>(), ptr.as<std::int32_t>(),
           tiles, out.as<T>());
  });
}

void segment_softmax_backward(const Stream& stream, const TensorView& y, const TensorView& grad,
                              const TensorView& ptr, const TensorView& dx) {
  const Tiles tiles = segment_tiles(y, ptr);
  visit_floating(y.dtype, [&]<class T>() {
    launch(segment_softmax_backward_kernel<T>, tiles.threads(), stream, y.as<T>(), grad.as<T>(),
           ptr.as<std::int32_t>(), tiles, dx.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

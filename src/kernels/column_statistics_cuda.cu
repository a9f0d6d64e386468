// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/norm.h"

namespace moiety::kernels::cuda {
namespace {

void check_columns(const TensorView& x, const TensorView& v) {
  MOIETY_CHECK(x.ndim() == 2 && x.contiguous() && v.shape == Shape({x.shape[1]}) && v.contiguous(),
               "column_statistics: ", v.shape, " for ", x.shape);
}

/// Means of `count` rows, and sums of the squared differences to them.
template <int kCount>
struct alignas(16) Moments {
  double mean[kCount];
  double squares[kCount];
  double count;
};

/// Chan, Golub and LeVeque 1979: exact, where sums of squares would cancel.
struct JoinMoments {
  template <class Value>
  __device__ static Value identity() {
    return Value{};
  }
  template <int kCount>
  __device__ Moments<kCount> operator()(Moments<kCount> a, const Moments<kCount>& b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const double weight = b.count / count;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double between = b.mean[i] - a.mean[i];
      a.mean[i] += between * weight;
      a.squares[i] += b.squares[i] + between * between * a.count * weight;
    }
    a.count = count;
    return a;
  }
};

/// Mean and variance in one pass over x. The few elements of a run are summed as differences to a
/// pivot near them: the first element, then the mean so far. So squares cancel as little as in a
/// second pass. Means are kept as differences to the column's first row, so that their rounding is
/// small against the spread.
template <class T, int kCount>
struct StatisticsReducer {
  using F = Compute<T>;
  using Value = Moments<kCount>;
  using Op = JoinMoments;
  struct Running {
    Pack<T, kCount> origin;
    F pivot[kCount];
    F sum[kCount];
    F squares[kCount];
    int count;
    Value total;
  };
  const T* x;
  std::int64_t rows;
  F* mean;
  F* var;

  __device__ Pack<T, kCount> first_row(std::int64_t b) const {
    Pack<T, kCount> row;
    row.fill(0);
    if (rows > 0) row.load(x + b * kCount);
    return row;
  }
  __device__ Running begin(std::int64_t b) const {
    Running running{};
    running.origin = first_row(b);
    return running;
  }
  __device__ void take(Running& running, std::int64_t u, std::int64_t) const {
    Pack<T, kCount> value;
    value.load(x + u * kCount);
    const bool first = running.count == 0 && running.total.count == 0;
    ++running.count;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (first) running.pivot[i] = value.v[i];
      const F d = value.v[i] - running.pivot[i];
      running.sum[i] += d;
      running.squares[i] += d * d;
    }
  }
  __device__ void settle(Running& running) const {
    if (running.count == 0) return;
    Value run;
    run.count = running.count;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double sum = running.sum[i];
      const double shift = sum / run.count;
      run.mean[i] =
          static_cast<double>(running.pivot[i]) - static_cast<double>(running.origin.v[i]) + shift;
      run.squares[i] = static_cast<double>(running.squares[i]) - sum * shift;
    }
    running.total = JoinMoments{}(running.total, run);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      running.pivot[i] =
          static_cast<F>(static_cast<double>(running.origin.v[i]) + running.total.mean[i]);
      running.sum[i] = 0;
      running.squares[i] = 0;
    }
    running.count = 0;
  }
  __device__ Value value(const Running& running) const { return running.total; }
  __device__ void finish(const Value& moments, std::int64_t o) const {
    const Pack<T, kCount> origin = first_row(o);
    Pack<F, kCount> m;
    Pack<F, kCount> v;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      m.v[i] = moments.count > 0
                   ? static_cast<F>(static_cast<double>(origin.v[i]) + moments.mean[i])
                   : static_cast<F>(NAN);
      v.v[i] = static_cast<F>(moments.squares[i] / moments.count);
    }
    m.store(mean + o * kCount);
    v.store(var + o * kCount);
  }
};

template <class F>
__device__ void mix(double momentum, double value, F& running) {
  running = static_cast<F>((1 - momentum) * static_cast<double>(running) + momentum * value);
}

template <class F>
__global__ void update_running_kernel(double momentum, std::int64_t rows, const RowCount count,
                                      std::int64_t columns, const F* __restrict__ mean,
                                      const F* __restrict__ var, F* __restrict__ running_mean,
                                      F* __restrict__ running_var) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  const std::int64_t counted = count.of(rows);
  if (counted < 2) return;
  const double unbiased = static_cast<double>(counted) / static_cast<double>(counted - 1);
  const double m = mean[c];
  const double v = unbiased * static_cast<double>(var[c]);
  const double infinity = INFINITY;
  if (!(std::fabs(m) < infinity) || !(std::fabs(v) < infinity)) return;
  mix(momentum, m, running_mean[c]);
  mix(momentum, v, running_var[c]);
}

/// out [rows, 1].
template <class T>
__global__ void row_weights_kernel(const RowCount count, std::int64_t rows, T* __restrict__ out) {
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= rows) return;
  const std::int64_t counted = count.of(rows);
  out[n] = narrow<T>(static_cast<Compute<T>>(n < counted ? 1 / static_cast<double>(counted) : 0.0));
}

constexpr int kBlock = 128;

}  // namespace

void column_statistics(const Stream& stream, const TensorView& x, const TensorView& mean,
                       const TensorView& var, const TensorView& rows) {
  for (const TensorView* v : {&mean, &var}) check_columns(x, *v);
  const std::int64_t columns = x.shape[1];
  const RowCount count = row_count(rows);
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    auto* m = mean.as<Compute<T>>();
    auto* v = var.as<Compute<T>>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          const StatisticsReducer<T, kCount> reducer{from, x.shape[0], m, v};
          reduce_first_rows(stream, reducer, x.shape[0], columns / kCount, kCount * sizeof(T),
                            count);
        },
        from, m, v);
  });
}

void update_running_statistics(const Stream& stream, double momentum, std::int64_t count,
                               const TensorView& mean, const TensorView& var,
                               const TensorView& running_mean, const TensorView& running_var,
                               const TensorView& rows) {
  MOIETY_CHECK(var.shape == mean.shape && running_mean.shape == mean.shape &&
                   running_var.shape == mean.shape,
               "update_running_statistics: ", mean.shape);
  const std::int64_t columns = mean.numel();
  visit_float(mean.dtype, [&]<class F>() {
    launch(update_running_kernel<F>, Threads(dim3(blocks_for(columns, kBlock)), dim3(kBlock)),
           stream, momentum, count, row_count(rows), columns, mean.as<F>(), var.as<F>(),
           running_mean.as<F>(), running_var.as<F>());
  });
}

void row_weights(const Stream& stream, const TensorView& rows, const TensorView& out) {
  MOIETY_CHECK(out.ndim() == 2 && out.shape[1] == 1 && out.contiguous(),
               "row_weights: ", out.shape);
  visit_floating(out.dtype, [&]<class T>() {
    launch(row_weights_kernel<T>, Threads(dim3(blocks_for(out.numel(), kBlock)), dim3(kBlock)),
           stream, row_count(rows), out.numel(), out.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

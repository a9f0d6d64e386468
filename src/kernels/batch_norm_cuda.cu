// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <initializer_list>

#include "kernels/cuda/norm_tail.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/optional_view.h"

namespace moiety::kernels::cuda {
namespace {

void check_rows(const TensorView& x, const TensorView& other) {
  MOIETY_CHECK(x.ndim() == 2 && x.shape == other.shape && x.contiguous() && other.contiguous(),
               "batch_norm: ", x.shape, " and ", other.shape);
}

void check_columns(const TensorView& x, std::initializer_list<const TensorView*> vectors) {
  for (const TensorView* v : vectors) {
    MOIETY_CHECK(v->shape == Shape({x.shape[1]}) && v->contiguous(), "batch_norm: ", v->shape,
                 " for ", x.shape);
  }
}

template <class F>
__device__ F inverse_sd(F var, double eps) {
  return F{1} / std::sqrt(var + static_cast<F>(eps));
}

/// ColumnNorm with pointers.
template <class T>
struct Norm {
  const Compute<T>* mean;
  const Compute<T>* var;
  const T* weight;
  double eps;
};

/// Rows of a thread that are on their way from memory at once.
constexpr int kAtOnce = 4;

/// x, out [N, C]: a thread takes kCount columns and walks down them.
template <class T, int kCount>
__global__ void __launch_bounds__(kTileThreads, 1)
    batch_norm_kernel(const Norm<T> norm, const Tiles tiles, const T* __restrict__ x,
                      const T* __restrict__ bias, const Tail<T> tail, T* __restrict__ out) {
  if (!tiles.inside()) return;
  const std::int64_t columns = tiles.columns * kCount;
  const std::int64_t c = tiles.b() * kCount;
  Pack<Compute<T>, kCount> mean;
  Pack<T, kCount> scale;
  Pack<Compute<T>, kCount> var;
  Pack<T, kCount> shift;
  mean.load(norm.mean + c);
  scale.load(norm.weight + c);
  var.load(norm.var + c);
  shift.load(bias + c);
#pragma unroll
  for (int i = 0; i < kCount; ++i) scale.v[i] *= inverse_sd(var.v[i], norm.eps);
  const std::int64_t step = tiles.row_step();
  const std::int64_t end = tiles.end_row();
  for (std::int64_t n = tiles.first_row(); n < end; n += kAtOnce * step) {
    Pack<T, kCount> value[kAtOnce];
    Pack<T, kCount> added[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (n + k * step >= end) continue;
      const std::int64_t at = (n + k * step) * columns + c;
      value[k].load(x + at);
      added[k].fill(0);
      if (tail.residual != nullptr) added[k].load(tail.residual + at);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (n + k * step >= end) continue;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        value[k].v[i] = (value[k].v[i] - mean.v[i]) * scale.v[i] + shift.v[i];
      }
      tail.apply(value[k], added[k]);
      value[k].store(out + (n + k * step) * columns + c);
    }
  }
}

/// The gradients of bias and weight; the sums of grad and of grad * (x - mean) are kept, unrounded,
/// for the gradient of x: sums [2, C].
template <class T, int kCount>
struct GradientSums : SumReducer<Compute<T>, 2 * kCount> {
  using F = Compute<T>;
  using Base = SumReducer<F, 2 * kCount>;
  struct Running : Base::Running {
    Pack<F, kCount> mean;
    F scale[kCount];
    Gate<T, kCount> gate;
  };
  Norm<T> norm;
  const T* relu_bias;
  const T* grad;
  const T* x;
  std::int64_t columns;
  T* dweight;
  T* dbias;
  F* sums;

  __device__ Running begin(std::int64_t b) const {
    Running running{};
    Pack<T, kCount> weight;
    Pack<F, kCount> var;
    running.mean.load(norm.mean + b * kCount);
    running.gate.load(relu_bias == nullptr ? nullptr : relu_bias + b * kCount);
    weight.load(norm.weight + b * kCount);
    var.load(norm.var + b * kCount);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      running.scale[i] = weight.v[i] * inverse_sd(var.v[i], norm.eps);
    }
    return running;
  }
  __device__ void take(Running& running, std::int64_t u, std::int64_t) const {
    Pack<T, kCount> g;
    Pack<T, kCount> value;
    g.load(grad + u * kCount);
    value.load(x + u * kCount);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const F centred = value.v[i] - running.mean.v[i];
      const F flow = running.gate.pass(i, centred * running.scale[i], g.v[i]);
      running.run[i] += flow;
      running.run[kCount + i] += flow * centred;
    }
  }
  __device__ void finish(const typename Base::Value& total, std::int64_t o) const {
    const std::int64_t c = o * kCount;
    Pack<F, kCount> var;
    Pack<F, kCount> total_flow;
    Pack<F, kCount> slope;
    Pack<T, kCount> b;
    Pack<T, kCount> w;
    var.load(norm.var + c);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double r = inverse_sd(static_cast<double>(var.v[i]), norm.eps);
      total_flow.v[i] = static_cast<F>(total.v[i]);
      slope.v[i] = static_cast<F>(total.v[kCount + i] * r);
      b.v[i] = total_flow.v[i];
      w.v[i] = slope.v[i];
    }
    total_flow.store(sums + c);
    slope.store(sums + columns + c);
    b.store(dbias + c);
    w.store(dweight + c);
  }
};

/// dx = scale * (grad - shift - (x - mean) * slope), the latter two through the statistics where
/// these are of x; 0 for rows that do not count.
template <class T, int kCount>
__global__ void __launch_bounds__(kTileThreads, 1)
    batch_norm_grad_kernel(const Norm<T> norm, const T* __restrict__ relu_bias, const Tiles tiles,
                           const RowCount count, bool statistics_of_x,
                           const Compute<T>* __restrict__ sums, const T* __restrict__ grad,
                           const T* __restrict__ x, T* __restrict__ dx) {
  using F = Compute<T>;
  if (!tiles.inside()) return;
  const std::int64_t columns = tiles.columns * kCount;
  const std::int64_t c = tiles.b() * kCount;
  const std::int64_t rows = count.of(tiles.rows);
  const F per_row = statistics_of_x ? static_cast<F>(1 / static_cast<double>(rows)) : F{0};
  Pack<F, kCount> mean;
  Pack<T, kCount> scale;
  Pack<F, kCount> slope;
  F shift[kCount];
  Gate<T, kCount> gate;
  gate.load(relu_bias == nullptr ? nullptr : relu_bias + c);
  mean.load(norm.mean + c);
  scale.load(norm.weight + c);
  slope.load(norm.var + c);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const F r = inverse_sd(slope.v[i], norm.eps);
    scale.v[i] *= r;
    shift[i] = sums[c + i] * per_row;
    slope.v[i] = sums[columns + c + i] * r * per_row;
  }
  const std::int64_t step = tiles.row_step();
  const std::int64_t end = tiles.end_row();
  for (std::int64_t n = tiles.first_row(); n < end; n += kAtOnce * step) {
    Pack<T, kCount> g[kAtOnce];
    Pack<T, kCount> value[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (n + k * step >= end || n + k * step >= rows) continue;
      g[k].load(grad + (n + k * step) * columns + c);
      value[k].load(x + (n + k * step) * columns + c);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (n + k * step >= end) continue;
      if (n + k * step < rows) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const F centred = value[k].v[i] - mean.v[i];
          const F flow = gate.pass(i, centred * scale.v[i], g[k].v[i]);
          g[k].v[i] = scale.v[i] * (flow - shift[i] - centred * slope.v[i]);
        }
      } else {
        g[k].fill(0);
      }
      g[k].store(dx + (n + k * step) * columns + c);
    }
  }
}

template <class T>
Norm<T> norm_of(const ColumnNorm& norm) {
  using F = Compute<T>;
  return {norm.mean.as<F>(), norm.var.as<F>(), norm.weight.as<T>(), norm.eps};
}

}  // namespace

void batch_norm(const Stream& stream, const ColumnNorm& norm, const TensorView& x,
                const TensorView& bias, const TensorView& out, const NormTail& tail_view) {
  check_rows(x, out);
  if (tail_view.residual.defined()) check_rows(x, tail_view.residual);
  check_columns(x, {&norm.mean, &norm.var, &norm.weight, &bias});
  const std::int64_t columns = x.shape[1];
  visit_floating(x.dtype, [&]<class T>() {
    const Norm<T> by = norm_of<T>(norm);
    const T* from = x.as<T>();
    const T* b = bias.as<T>();
    const Tail<T> tail = tail_of<T>(tail_view);
    T* to = out.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          const Tiles tiles = chunked_tiles(1, x.shape[0], columns / kCount, kCount * sizeof(T));
          launch(batch_norm_kernel<T, kCount>, tiles.threads(), stream, by, tiles, from, b, tail,
                 to);
        },
        by.mean, by.var, by.weight, from, b, tail.residual, to);
  });
}

void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& x, const NormGrads& out,
                     const TensorView& row_view, const TensorView& relu_bias) {
  check_rows(x, grad);
  check_rows(x, out.x);
  if (relu_bias.defined()) check_columns(x, {&relu_bias});
  check_columns(x, {&norm.mean, &norm.var, &norm.weight, &out.weight, &out.bias});
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  const RowCount count = row_count(row_view);
  visit_floating(x.dtype, [&]<class T>() {
    const Norm<T> by = norm_of<T>(norm);
    const T* g = grad.as<T>();
    const T* from = x.as<T>();
    const T* bias = cpu::data_or_null<T>(relu_bias);
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const Storage storage(stream.device(),
                          static_cast<std::size_t>(2 * columns) * sizeof(Compute<T>));
    auto* sums = reinterpret_cast<Compute<T>*>(storage.data());
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          const std::int64_t bytes = kCount * sizeof(T);
          const GradientSums<T, kCount> reducer{{},      by,      bias,  g,   from,
                                                columns, dweight, dbias, sums};
          reduce_first_rows(stream, reducer, rows, columns / kCount, bytes, count);
          const Tiles tiles = chunked_tiles(1, rows, columns / kCount, bytes);
          launch(batch_norm_grad_kernel<T, kCount>, tiles.threads(), stream, by, bias, tiles, count,
                 statistics_of_x, sums, g, from, dx);
        },
        by.mean, by.var, by.weight, bias, g, from, dx, dweight, dbias);
  });
}

}  // namespace moiety::kernels::cuda

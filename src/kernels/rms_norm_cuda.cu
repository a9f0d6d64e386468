// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/cuda/row_packs.cuh"
#include "kernels/norm.h"

namespace moiety::kernels::cuda {
namespace {

void check_rows(const TensorView& x, const TensorView& other) {
  MOIETY_CHECK(x.ndim() == 2 && x.shape == other.shape && x.contiguous() && other.contiguous(),
               "rms_norm: ", x.shape, " and ", other.shape);
}

void check_vector(const TensorView& v, std::int64_t n) {
  MOIETY_CHECK(v.shape == Shape({n}) && v.contiguous(), "rms_norm: ", v.shape, " for ", n);
}

/// x, out [rows, columns]; weight [columns]; rstd [rows].
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    rms_norm_kernel(double eps, std::int64_t rows, std::int64_t columns, const T* __restrict__ x,
                    const T* __restrict__ weight, T* __restrict__ out,
                    Compute<T>* __restrict__ rstd) {
  using F = Compute<T>;
  using Sum = typename RowTeam<T, kCount, kPacks>::Sum;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> in(team, x, team.row(), 0);
  Sum squares = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto pack = in.get(team, p);
    F part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += pack.v[i] * pack.v[i];
    squares += part;
  }
  const Sum mean = team.reduce(squares, cuda::Sum{}) / static_cast<Sum>(columns);
  const F scale = static_cast<F>(1 / std::sqrt(mean + static_cast<Sum>(eps)));
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    if (!team.has(p)) continue;
    auto pack = in.get(team, p);
    Pack<T, kCount> w;
    w.load(weight + team.column(p));
#pragma unroll
    for (int i = 0; i < kCount; ++i) pack.v[i] = pack.v[i] * scale * w.v[i];
    pack.store(out + team.place(p));
  }
  if (team.row() < rows && threadIdx.x == 0) rstd[team.row()] = scale;
}

/// dx = rstd (grad weight - x rstd^2 mean(grad weight x)); shapes as above.
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    rms_norm_grad_kernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ grad,
                         const T* __restrict__ x, const T* __restrict__ weight,
                         const Compute<T>* __restrict__ rstd, T* __restrict__ dx) {
  using F = Compute<T>;
  using Sum = typename RowTeam<T, kCount, kPacks>::Sum;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> in(team, x, team.row(), 0);
  const RowPacks<T, kCount, kPacks> flow(team, grad, team.row(), 0);
  const RowPacks<T, kCount, kPacks> weights(team, weight, 0, 0);
  const F r = team.row() < rows ? rstd[team.row()] : F{0};
  Sum moment = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = in.get(team, p);
    const auto g = flow.get(team, p);
    const auto w = weights.get(team, p);
    F part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += g.v[i] * w.v[i] * value.v[i];
    moment += part;
  }
  const Sum mean = team.reduce(moment, cuda::Sum{}) / static_cast<Sum>(columns);
  const F slope = static_cast<F>(mean) * r * r;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = in.get(team, p);
    auto g = flow.get(team, p);
    const auto w = weights.get(team, p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) g.v[i] = r * (g.v[i] * w.v[i] - value.v[i] * slope);
    if (team.has(p)) g.store(dx + team.place(p));
  }
}

/// The gradient of the weight, sums down the columns.
template <class T, int kCount>
struct WeightGradient : SumReducer<Compute<T>, kCount> {
  using Base = SumReducer<Compute<T>, kCount>;
  using Running = typename Base::Running;
  const T* grad;
  const T* x;
  const Compute<T>* rstd;
  T* dweight;

  __device__ Running begin(std::int64_t) const { return {}; }
  __device__ void take(Running& running, std::int64_t u, std::int64_t n) const {
    Pack<T, kCount> g;
    Pack<T, kCount> value;
    g.load(grad + u * kCount);
    value.load(x + u * kCount);
    const auto r = rstd[n];
#pragma unroll
    for (int i = 0; i < kCount; ++i) running.run[i] += g.v[i] * (value.v[i] * r);
  }
  __device__ void finish(const typename Base::Value& sums, std::int64_t o) const {
    Pack<T, kCount> w;
#pragma unroll
    for (int i = 0; i < kCount; ++i) w.v[i] = static_cast<Compute<T>>(sums.v[i]);
    w.store(dweight + o * kCount);
  }
};

}  // namespace

void rms_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
              const TensorView& out, const TensorView& rstd) {
  check_rows(x, out);
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  check_vector(weight, columns);
  check_vector(rstd, rows);
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    const T* w = weight.as<T>();
    T* to = out.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(rms_norm_kernel<T, kCount, kPacks>, threads, stream, eps, rows, columns, from, w,
                   to, rstd.as<Compute<T>>());
          });
        },
        from, w, to);
  });
}

void rms_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                   const TensorView& weight, const TensorView& rstd, const TensorView& dx_view,
                   const TensorView& dweight_view) {
  check_rows(x, grad);
  check_rows(x, dx_view);
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  check_vector(weight, columns);
  check_vector(dweight_view, columns);
  check_vector(rstd, rows);
  visit_floating(x.dtype, [&]<class T>() {
    const T* g = grad.as<T>();
    const T* from = x.as<T>();
    const T* w = weight.as<T>();
    const auto* r = rstd.as<Compute<T>>();
    T* dx = dx_view.as<T>();
    T* dweight = dweight_view.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(rms_norm_grad_kernel<T, kCount, kPacks>, threads, stream, rows, columns, g, from,
                   w, r, dx);
          });
          const WeightGradient<T, kCount> reducer{{}, g, from, r, dweight};
          reduce_middle(stream, reducer, 1, rows, columns / kCount, kCount * sizeof(T));
        },
        g, from, w, dx, dweight);
  });
}

}  // namespace moiety::kernels::cuda

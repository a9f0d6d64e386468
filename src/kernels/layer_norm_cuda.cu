// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/norm_tail.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/cuda/row_packs.cuh"
#include "kernels/optional_view.h"

namespace moiety::kernels::cuda {
namespace {

void check_rows(const TensorView& x, const TensorView& other) {
  MOIETY_CHECK(x.ndim() == 2 && x.shape == other.shape && x.contiguous() && other.contiguous(),
               "layer_norm: ", x.shape, " and ", other.shape);
}

void check_vector(const TensorView& v, std::int64_t n) {
  MOIETY_CHECK(v.shape == Shape({n}) && v.contiguous(), "layer_norm: ", v.shape, " for ", n);
}

/// x, out [rows, columns]; weight, bias [columns]; mean, rstd [rows].
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    layer_norm_kernel(double eps, std::int64_t rows, std::int64_t columns, const T* __restrict__ x,
                      const T* __restrict__ weight, const T* __restrict__ bias, const Tail<T> tail,
                      T* __restrict__ out, Compute<T>* __restrict__ mean,
                      Compute<T>* __restrict__ rstd) {
  using F = Compute<T>;
  using Sum = typename RowTeam<T, kCount, kPacks>::Sum;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> in(team, x, team.row(), 0);
  Sum total = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto pack = in.get(team, p);
    F part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += pack.v[i];
    total += part;
  }
  const Sum width = static_cast<Sum>(columns);
  const F m = static_cast<F>(team.reduce(total, cuda::Sum{}) / width);
  Sum squares = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto pack = in.get(team, p);
    F part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += (pack.v[i] - m) * (pack.v[i] - m);
    squares += team.has(p) ? part : F{0};
  }
  const Sum var = team.reduce(squares, cuda::Sum{}) / width;
  const F scale = static_cast<F>(1 / std::sqrt(var + static_cast<Sum>(eps)));
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    if (!team.has(p)) continue;
    auto pack = in.get(team, p);
    Pack<T, kCount> w;
    Pack<T, kCount> b;
    w.load(weight + team.column(p));
    b.load(bias + team.column(p));
#pragma unroll
    for (int i = 0; i < kCount; ++i) pack.v[i] = (pack.v[i] - m) * scale * w.v[i] + b.v[i];
    Pack<T, kCount> added;
    added.fill(0);
    if (tail.residual != nullptr) added.load(tail.residual + team.place(p));
    tail.apply(pack, added);
    pack.store(out + team.place(p));
  }
  if (team.row() < rows && threadIdx.x == 0) {
    mean[team.row()] = m;
    rstd[team.row()] = scale;
  }
}

/// The gradient of x; shapes as above.
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    layer_norm_grad_kernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ grad,
                           const T* __restrict__ x, const T* __restrict__ weight,
                           const T* __restrict__ relu_bias, const Compute<T>* __restrict__ mean,
                           const Compute<T>* __restrict__ rstd, T* __restrict__ dx) {
  using F = Compute<T>;
  using Sum = typename RowTeam<T, kCount, kPacks>::Sum;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> in(team, x, team.row(), 0);
  const RowPacks<T, kCount, kPacks> flow(team, grad, team.row(), 0);
  const RowPacks<T, kCount, kPacks> weights(team, weight, 0, 0);
  const F m = team.row() < rows ? mean[team.row()] : F{0};
  const F r = team.row() < rows ? rstd[team.row()] : F{0};
  const auto gate_of = [&](int p) {
    Gate<T, kCount> gate;
    gate.load(relu_bias != nullptr && team.has(p) ? relu_bias + team.column(p) : nullptr);
    return gate;
  };
  Sum total = 0;
  Sum moment = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = in.get(team, p);
    const auto g = flow.get(team, p);
    const auto w = weights.get(team, p);
    const auto gate = gate_of(p);
    F part = 0;
    F part_moment = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const F centred = value.v[i] - m;
      const F weighted = gate.pass(i, centred * r * w.v[i], g.v[i]) * w.v[i];
      part += weighted;
      part_moment += weighted * centred;
    }
    total += part;
    moment += part_moment;
  }
  const Sum width = static_cast<Sum>(columns);
  const F shift = static_cast<F>(team.reduce(total, cuda::Sum{}) / width);
  const F slope = static_cast<F>(team.reduce(moment, cuda::Sum{}) / width) * r * r;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = in.get(team, p);
    auto g = flow.get(team, p);
    const auto w = weights.get(team, p);
    const auto gate = gate_of(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const F centred = value.v[i] - m;
      const F passed = gate.pass(i, centred * r * w.v[i], g.v[i]);
      g.v[i] = r * (passed * w.v[i] - shift - centred * slope);
    }
    if (team.has(p)) g.store(dx + team.place(p));
  }
}

/// The gradients of weight and bias, sums down the columns.
template <class T, int kCount>
struct ColumnGradients : SumReducer<Compute<T>, 2 * kCount> {
  using Base = SumReducer<Compute<T>, 2 * kCount>;
  struct Running : Base::Running {
    Pack<T, kCount> weight;
    Gate<T, kCount> gate;
  };
  const T* grad;
  const T* x;
  const T* weight;
  const T* relu_bias;
  const Compute<T>* mean;
  const Compute<T>* rstd;
  T* dweight;
  T* dbias;

  __device__ Running begin(std::int64_t b) const {
    Running running{};
    running.weight.load(weight + b * kCount);
    running.gate.load(relu_bias == nullptr ? nullptr : relu_bias + b * kCount);
    return running;
  }
  __device__ void take(Running& running, std::int64_t u, std::int64_t n) const {
    Pack<T, kCount> g;
    Pack<T, kCount> value;
    g.load(grad + u * kCount);
    value.load(x + u * kCount);
    const auto m = mean[n];
    const auto r = rstd[n];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto normal = (value.v[i] - m) * r;
      const auto flow = running.gate.pass(i, normal * running.weight.v[i], g.v[i]);
      running.run[i] += flow * normal;
      running.run[kCount + i] += flow;
    }
  }
  __device__ void finish(const typename Base::Value& sums, std::int64_t o) const {
    Pack<T, kCount> w;
    Pack<T, kCount> b;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      w.v[i] = static_cast<Compute<T>>(sums.v[i]);
      b.v[i] = static_cast<Compute<T>>(sums.v[kCount + i]);
    }
    w.store(dweight + o * kCount);
    b.store(dbias + o * kCount);
  }
};

}  // namespace

void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd, const NormTail& tail_view) {
  check_rows(x, out);
  if (tail_view.residual.defined()) check_rows(x, tail_view.residual);
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  for (const TensorView* v : {&weight, &bias}) check_vector(*v, columns);
  for (const TensorView* v : {&mean, &rstd}) check_vector(*v, rows);
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    const T* w = weight.as<T>();
    const T* b = bias.as<T>();
    const Tail<T> tail = tail_of<T>(tail_view);
    T* to = out.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(layer_norm_kernel<T, kCount, kPacks>, threads, stream, eps, rows, columns, from,
                   w, b, tail, to, mean.as<Compute<T>>(), rstd.as<Compute<T>>());
          });
        },
        from, w, b, tail.residual, to);
  });
}

void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out, const TensorView& relu_bias) {
  check_rows(x, grad);
  check_rows(x, out.x);
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  for (const TensorView* v : {&weight, &out.weight, &out.bias}) check_vector(*v, columns);
  if (relu_bias.defined()) check_vector(relu_bias, columns);
  for (const TensorView* v : {&mean, &rstd}) check_vector(*v, rows);
  visit_floating(x.dtype, [&]<class T>() {
    const T* g = grad.as<T>();
    const T* from = x.as<T>();
    const T* w = weight.as<T>();
    const T* bias = cpu::data_or_null<T>(relu_bias);
    const auto* m = mean.as<Compute<T>>();
    const auto* r = rstd.as<Compute<T>>();
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(layer_norm_grad_kernel<T, kCount, kPacks>, threads, stream, rows, columns, g,
                   from, w, bias, m, r, dx);
          });
          const ColumnGradients<T, kCount> reducer{{}, g, from, w, bias, m, r, dweight, dbias};
          reduce_middle(stream, reducer, 1, rows, columns / kCount, kCount * sizeof(T));
        },
        g, from, w, bias, dx, dweight, dbias);
  });
}

}  // namespace moiety::kernels::cuda

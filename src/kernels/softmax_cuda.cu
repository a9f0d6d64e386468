// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/row_packs.cuh"
#include "kernels/reduce.h"

namespace moiety::kernels::cuda {
namespace {

void check_rows(const char* name, const TensorView& a, const TensorView& b) {
  MOIETY_CHECK(a.ndim() == 2 && a.shape == b.shape && a.contiguous() && b.contiguous(), name, ": ",
               a.shape, " and ", b.shape);
}

/// y = softmax of each row of x, or its logarithm: all [rows, columns].
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    softmax_kernel(bool log, std::int64_t rows, std::int64_t columns, const T* __restrict__ x,
                   T* __restrict__ y) {
  using F = Compute<T>;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> in(team, x, team.row(), -static_cast<F>(INFINITY));
  const F top = row_top(team, in);
  const auto total = row_exponentials(team, in, top);
  const F scale = log ? F{0} : static_cast<F>(1 / total);
  const F log_total = log ? static_cast<F>(std::log(total)) : F{0};
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    auto pack = in.get(team, p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const F below = pack.v[i] - top;
      pack.v[i] = log ? below - log_total : std::exp(below) * scale;
    }
    if (team.has(p)) pack.store(y + team.place(p));
  }
}

/// dx from y, the softmax or its logarithm, and the gradient of y: all [rows, columns].
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    softmax_grad_kernel(bool log, std::int64_t rows, std::int64_t columns, const T* __restrict__ y,
                        const T* __restrict__ grad, T* __restrict__ dx) {
  using F = Compute<T>;
  using Sum = typename RowTeam<T, kCount, kPacks>::Sum;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const RowPacks<T, kCount, kPacks> result(team, y, team.row(), 0);
  const RowPacks<T, kCount, kPacks> flow(team, grad, team.row(), 0);
  Sum sum = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = result.get(team, p);
    const auto g = flow.get(team, p);
    F part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += log ? g.v[i] : value.v[i] * g.v[i];
    sum += part;
  }
  const F total = static_cast<F>(team.reduce(sum, cuda::Sum{}));
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto value = result.get(team, p);
    auto g = flow.get(team, p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      g.v[i] = log ? g.v[i] - std::exp(value.v[i]) * total : value.v[i] * (g.v[i] - total);
    }
    if (team.has(p)) g.store(dx + team.place(p));
  }
}

void run_softmax(const Stream& stream, bool log, const TensorView& x, const TensorView& y) {
  const std::int64_t rows = x.shape[0];
  const std::int64_t columns = x.shape[1];
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = y.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(softmax_kernel<T, kCount, kPacks>, threads, stream, log, rows, columns, from,
                   to);
          });
        },
        from, to);
  });
}

void run_softmax_grad(const Stream& stream, bool log, const TensorView& y, const TensorView& grad,
                      const TensorView& dx) {
  const std::int64_t rows = y.shape[0];
  const std::int64_t columns = y.shape[1];
  visit_floating(y.dtype, [&]<class T>() {
    const T* result = y.as<T>();
    const T* flow = grad.as<T>();
    T* to = dx.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(softmax_grad_kernel<T, kCount, kPacks>, threads, stream, log, rows, columns,
                   result, flow, to);
          });
        },
        result, flow, to);
  });
}

}  // namespace

void softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  check_rows("softmax", x, y);
  run_softmax(stream, /*log=*/false, x, y);
}

void softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                  const TensorView& dx) {
  check_rows("softmax_grad", y, grad);
  check_rows("softmax_grad", y, dx);
  run_softmax_grad(stream, /*log=*/false, y, grad, dx);
}

void log_softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  check_rows("log_softmax", x, y);
  run_softmax(stream, /*log=*/true, x, y);
}

void log_softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                      const TensorView& dx) {
  check_rows("log_softmax_grad", y, grad);
  check_rows("log_softmax_grad", y, dx);
  run_softmax_grad(stream, /*log=*/true, y, grad, dx);
}

}  // namespace moiety::kernels::cuda

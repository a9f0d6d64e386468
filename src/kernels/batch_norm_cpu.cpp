// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_reduce.h"
#include "kernels/norm.h"
#include "kernels/row_count.h"

namespace moiety::kernels::cpu {
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

/// Sums of term(row, column, block) down the columns, in parallel chunks of rows.
template <class T, class Term, class Store>
void sum_down(const Stream& stream, const TensorView& x, const Term& term, const Store& store) {
  const std::int64_t width = x.shape[1];
  const auto reduce = [&](std::int64_t begin, std::int64_t end, double* sums) {
    const auto shifted = [&](std::int64_t r, std::int64_t c, auto block) {
      return term(begin + r, c, block);
    };
    sum_columns<T>(end - begin, width, shifted, sums);
  };
  reduce_rows(stream, x.shape[0], width, width, reduce, store);
}

/// The block of x - mean at (row, column).
template <class T, class Block>
Block centred(const T* x, const T* mean, std::int64_t width, std::int64_t row, std::int64_t column,
              Block block) {
  Block m = block;
  block.load(x + row * width + column);
  m.load(mean + column);
  block.subtract(m);
  return block;
}

template <class T>
T inverse_sd(T var, double eps) {
  return static_cast<T>(1.0 / std::sqrt(static_cast<double>(var) + eps));
}

/// Calls f(row, first element of the row) in parallel.
template <class F>
void for_each_row(const Stream& stream, const TensorView& x, const F& f) {
  const std::int64_t width = x.shape[1];
  parallel_for(stream, x.shape[0], row_grain(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(row * width);
  });
}

}  // namespace

void column_statistics(const Stream& stream, const TensorView& all, const TensorView& mean,
                       const TensorView& var, const TensorView& row_count) {
  check_rows(all, all);
  check_columns(all, {&mean, &var});
  const TensorView x = first_rows(all, row_count);
  const std::int64_t width = x.shape[1];
  const double rows = static_cast<double>(x.shape[0]);
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    T* m = mean.as<T>();
    T* v = var.as<T>();
    const auto value = [=](std::int64_t r, std::int64_t c, auto block) {
      block.load(from + r * width + c);
      return block;
    };
    sum_down<T>(stream, x, value,
                [=](std::int64_t c, double total) { m[c] = static_cast<T>(total / rows); });
    const auto squared = [=](std::int64_t r, std::int64_t c, auto block) {
      const auto d = centred(from, m, width, r, c, block);
      block.clear();
      block.add_product(d, d);
      return block;
    };
    sum_down<T>(stream, x, squared,
                [=](std::int64_t c, double total) { v[c] = static_cast<T>(total / rows); });
  });
}

void update_running_statistics(const Stream&, double momentum, std::int64_t count,
                               const TensorView& mean, const TensorView& var,
                               const TensorView& running_mean, const TensorView& running_var,
                               const TensorView& row_count) {
  MOIETY_CHECK(var.shape == mean.shape && running_mean.shape == mean.shape &&
                   running_var.shape == mean.shape,
               "update_running_statistics: ", mean.shape);
  const std::int64_t rows = counted_rows(row_count, count);
  if (rows < 2) return;
  visit_float(mean.dtype, [&]<class T> {
    const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
    const auto mix = [momentum](T& running, double value) {
      running = static_cast<T>((1 - momentum) * static_cast<double>(running) + momentum * value);
    };
    for (std::int64_t c = 0; c < mean.numel(); ++c) {
      const auto m = static_cast<double>(mean.as<T>()[c]);
      const auto v = unbiased * static_cast<double>(var.as<T>()[c]);
      if (!std::isfinite(m) || !std::isfinite(v)) continue;
      mix(running_mean.as<T>()[c], m);
      mix(running_var.as<T>()[c], v);
    }
  });
}

void batch_norm(const Stream& stream, const ColumnNorm& norm, const TensorView& x,
                const TensorView& bias, const TensorView& out) {
  check_rows(x, out);
  check_columns(x, {&norm.mean, &norm.var, &norm.weight, &bias});
  const std::int64_t width = x.shape[1];
  visit_float(x.dtype, [&]<class T> {
    const Storage storage(stream.device(), static_cast<std::size_t>(width) * sizeof(T));
    T* scale = reinterpret_cast<T*>(storage.data());
    for (std::int64_t c = 0; c < width; ++c) {
      scale[c] = norm.weight.as<T>()[c] * inverse_sd(norm.var.as<T>()[c], norm.eps);
    }
    const T* m = norm.mean.as<T>();
    const T* b = bias.as<T>();
    const T* from = x.as<T>();
    T* to = out.as<T>();
    for_each_row(stream, x, [=](std::int64_t row) {
#pragma GCC ivdep
      for (std::int64_t c = 0; c < width; ++c) {
        to[row + c] = (from[row + c] - m[c]) * scale[c] + b[c];
      }
    });
  });
}

void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& all, const NormGrads& out,
                     const TensorView& row_count) {
  check_rows(all, grad);
  check_rows(all, out.x);
  check_columns(all, {&norm.mean, &norm.var, &norm.weight, &out.weight, &out.bias});
  const TensorView x = first_rows(all, row_count);
  const std::int64_t width = x.shape[1];
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    const T* g = grad.as<T>();
    const T* m = norm.mean.as<T>();
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const auto gradient = [=](std::int64_t r, std::int64_t c, auto block) {
      block.load(g + r * width + c);
      return block;
    };
    const auto moment = [=](std::int64_t r, std::int64_t c, auto block) {
      const auto d = centred(from, m, width, r, c, block);
      const auto gr = gradient(r, c, block);
      block.clear();
      block.add_product(gr, d);
      return block;
    };
    sum_down<T>(stream, x, gradient,
                [=](std::int64_t c, double total) { dbias[c] = static_cast<T>(total); });
    sum_down<T>(stream, x, moment, [&](std::int64_t c, double total) {
      const double r = inverse_sd(static_cast<double>(norm.var.as<T>()[c]), norm.eps);
      dweight[c] = static_cast<T>(total * r);
    });
    // dx = scale * (g - shift - (x - mean) * slope), the latter two through the statistics.
    const Storage storage(stream.device(), static_cast<std::size_t>(3 * width) * sizeof(T));
    T* scale = reinterpret_cast<T*>(storage.data());
    T* shift = scale + width;
    T* slope = shift + width;
    const T per_row = statistics_of_x ? T(1) / static_cast<T>(x.shape[0]) : T(0);
    for (std::int64_t c = 0; c < width; ++c) {
      const T r = inverse_sd(norm.var.as<T>()[c], norm.eps);
      scale[c] = norm.weight.as<T>()[c] * r;
      shift[c] = dbias[c] * per_row;
      slope[c] = dweight[c] * r * per_row;
    }
    for_each_row(stream, x, [=](std::int64_t row) {
#pragma GCC ivdep
      for (std::int64_t c = 0; c < width; ++c) {
        const T d = from[row + c] - m[c];
        dx[row + c] = scale[c] * (g[row + c] - shift[c] - d * slope[c]);
      }
    });
    std::fill(dx + x.numel(), dx + all.numel(), T(0));
  });
}

void row_weights(const Stream&, const TensorView& rows, const TensorView& out) {
  MOIETY_CHECK(out.ndim() == 2 && out.shape[1] == 1 && out.contiguous(),
               "row_weights: ", out.shape);
  const std::int64_t count = counted_rows(rows, out.shape[0]);
  visit_float(out.dtype, [&]<class T> {
    T* to = out.as<T>();
    std::fill(to, to + count, static_cast<T>(1.0 / static_cast<double>(count)));
    std::fill(to + count, to + out.numel(), T(0));
  });
}

}  // namespace moiety::kernels::cpu

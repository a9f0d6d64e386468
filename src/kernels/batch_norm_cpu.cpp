// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_norm.h"
#include "kernels/cpu_reduce.h"
#include "kernels/optional_view.h"
#include "kernels/row_count.h"

namespace moiety::kernels::cpu {
namespace {

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

/// What the gradients of a batch norm read. With kRelu the gradient is that behind a ReLU, whose
/// input is computed again as in the forward pass: (x - mean) * scale + bias.
template <class T, bool kRelu>
struct Flow {
  const T* grad;
  const T* x;
  const T* mean;
  const T* scale;
  const T* bias;
  std::int64_t width;

  /// Adds the sums of grad (sums[0 .. C]) and of grad * (x - mean) (the C after it) over rows.
  [[gnu::flatten]] void add_sums(std::int64_t begin, std::int64_t end, double* sums) const {
    constexpr std::int64_t kRun = 16;  // rows whose sums are short enough for T
    for (std::int64_t first = begin; first < end; first += kRun) {
      const std::int64_t last = std::min(end, first + kRun);
      for_column_blocks<T>(0, width, [&](std::int64_t c, const auto& block) {
        auto total = block;
        auto moment = block;
        total.clear();
        moment.clear();
        auto m = block;
        m.load(mean + c);
        for (std::int64_t row = first; row < last; ++row) {
          auto d = block;
          auto g = block;
          d.load(x + row * width + c);
          d.subtract(m);
          g.load(grad + row * width + c);
          if constexpr (kRelu) {
            auto gate = block;
            auto s = block;
            gate.load(bias + c);
            s.load(scale + c);
            gate.add_product(d, s);
            g.keep_positive(gate);
          }
          total.add(g);
          moment.add_product(g, d);
        }
        total.add_to(sums + c);
        moment.add_to(sums + width + c);
      });
    }
  }

  /// dx = scale * (grad - shift - (x - mean) * slope) for the row that begins at element `at`.
  void write_row(std::int64_t at, const T* shift, const T* slope, T* dx) const {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < width; ++c) {
      const T d = x[at + c] - mean[c];
      T g = grad[at + c];
      if constexpr (kRelu) g = d * scale[c] + bias[c] <= T(0) ? T(0) : g;
      dx[at + c] = scale[c] * (g - shift[c] - d * slope[c]);
    }
  }
};

/// scale = weight / sqrt(var + eps), [C].
template <class T>
void find_scale(const ColumnNorm& norm, T* scale) {
  for (std::int64_t c = 0; c < norm.weight.numel(); ++c) {
    scale[c] = norm.weight.as<T>()[c] * inverse_sd(norm.var.as<T>()[c], norm.eps);
  }
}

}  // namespace

void column_statistics(const Stream& stream, const TensorView& all, const TensorView& mean,
                       const TensorView& var, const TensorView& row_count) {
  check_norm_rows(all, {});
  check_norm_vectors(all.shape[1], {&mean, &var});
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
                const TensorView& bias, const TensorView& out, const NormTail& tail) {
  check_norm_rows(x, {&out, &tail.residual});
  const std::int64_t width = x.shape[1];
  check_norm_vectors(width, {&norm.mean, &norm.var, &norm.weight, &bias});
  visit_float(x.dtype, [&]<class T> {
    const Storage storage(stream.device(), static_cast<std::size_t>(width) * sizeof(T));
    T* scale = reinterpret_cast<T*>(storage.data());
    find_scale(norm, scale);
    const T* m = norm.mean.as<T>();
    const T* b = bias.as<T>();
    const T* from = x.as<T>();
    const T* residual = data_or_null<T>(tail.residual);
    T* to = out.as<T>();
    visit_tail(tail, [&]<bool kRelu, bool kResidual> {
      for_each_row(stream, x, [=](std::int64_t row) {
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
          to[row + c] = apply_tail<kRelu, kResidual>((from[row + c] - m[c]) * scale[c] + b[c],
                                                     residual, row + c);
        }
      });
    });
  });
}

void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& all, const NormGrads& out,
                     const TensorView& row_count, const TensorView& relu_bias) {
  check_norm_rows(all, {&grad, &out.x});
  const std::int64_t width = all.shape[1];
  check_norm_vectors(width,
                     {&norm.mean, &norm.var, &norm.weight, &out.weight, &out.bias, &relu_bias});
  const TensorView x = first_rows(all, row_count);
  const auto run = [&]<class T, bool kRelu> {
    const Storage storage(stream.device(), static_cast<std::size_t>(3 * width) * sizeof(T));
    T* scale = reinterpret_cast<T*>(storage.data());
    T* shift = scale + width;
    T* slope = shift + width;
    find_scale(norm, scale);
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const Flow<T, kRelu> flow{
        grad.as<T>(), x.as<T>(), norm.mean.as<T>(), scale, data_or_null<T>(relu_bias), width};
    const T per_row = statistics_of_x ? T(1) / static_cast<T>(x.shape[0]) : T(0);
    const auto sum = [&](std::int64_t begin, std::int64_t end, double* sums) {
      flow.add_sums(begin, end, sums);
    };
    reduce_rows(stream, x.shape[0], width, 2 * width, sum, [&](std::int64_t k, double total) {
      const std::int64_t c = k % width;
      if (k < width) {
        dbias[c] = static_cast<T>(total);
        shift[c] = dbias[c] * per_row;
      } else {
        const T var = norm.var.as<T>()[c];
        dweight[c] = static_cast<T>(total * inverse_sd(static_cast<double>(var), norm.eps));
        slope[c] = dweight[c] * inverse_sd(var, norm.eps) * per_row;
      }
    });
    for_each_row(stream, x, [=](std::int64_t at) { flow.write_row(at, shift, slope, dx); });
    std::fill(dx + x.numel(), dx + all.numel(), T(0));
  };
  visit_float(x.dtype, [&]<class T> {
    relu_bias.defined() ? run.template operator()<T, true>() : run.template operator()<T, false>();
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

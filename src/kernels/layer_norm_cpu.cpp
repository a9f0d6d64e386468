// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_reduce.h"
#include "kernels/norm.h"

namespace moiety::kernels::cpu {
namespace {

void check_rows(const TensorView& x, const TensorView& other) {
  MOIETY_CHECK(x.ndim() == 2 && x.shape == other.shape && x.contiguous() && other.contiguous(),
               "layer_norm: ", x.shape, " and ", other.shape);
}

void check_vector(const TensorView& v, std::int64_t n) {
  MOIETY_CHECK(v.shape == Shape({n}) && v.contiguous(), "layer_norm: ", v.shape, " for ", n);
}

template <class T>
double sum_of_squares(const T* x, T mean, std::int64_t n) {
  return sum_terms<T>(n, [x, mean](std::int64_t c, auto block) {
    auto square = block;
    block.load(x + c);
    block.subtract(mean);
    square.clear();
    square.add_product(block, block);
    return square;
  });
}

/// What the gradients of a layer norm read.
template <class T>
struct RowNorm {
  const T* x;
  const T* grad;
  const T* weight;
  const T* mean;
  const T* rstd;
  std::int64_t width;

  /// grad * weight from element c of a row.
  template <class Block>
  Block weighted(const T* g, std::int64_t c, Block block) const {
    Block right = block;
    Block product = block;
    block.load(g + c);
    right.load(weight + c);
    product.clear();
    product.add_product(block, right);
    return product;
  }
  /// grad * (x - mean) / sd, from element c of a row.
  template <class Block>
  Block slope(std::int64_t row, std::int64_t c, Block block) const {
    Block normal = block;
    Block product = block;
    normal.load(x + row * width + c);
    normal.subtract(mean[row]);
    normal.scale(rstd[row]);
    block.load(grad + row * width + c);
    product.clear();
    product.add_product(block, normal);
    return product;
  }
};

template <class T>
void row_gradient(const RowNorm<T>& norm, std::int64_t row, T* dx) {
  const std::int64_t width = norm.width;
  const T* x = norm.x + row * width;
  const T* g = norm.grad + row * width;
  const T* w = norm.weight;
  const T m = norm.mean[row];
  const T r = norm.rstd[row];
  const double total =
      sum_terms<T>(width, [&](std::int64_t c, auto block) { return norm.weighted(g, c, block); });
  const double moment = sum_terms<T>(width, [&](std::int64_t c, auto block) {
    auto centred = block;
    centred.load(x + c);
    centred.subtract(m);
    const auto gw = norm.weighted(g, c, block);
    block.clear();
    block.add_product(gw, centred);
    return block;
  });
  const T shift = static_cast<T>(total / static_cast<double>(width));
  const T slope = static_cast<T>(moment / static_cast<double>(width)) * r * r;
#pragma GCC ivdep
  for (std::int64_t c = 0; c < width; ++c) dx[c] = r * (g[c] * w[c] - shift - (x[c] - m) * slope);
}

/// Adds up the gradients of weight (sums[0 .. C]) and bias (the C after it) over rows.
template <class T>
void column_gradients(const RowNorm<T>& norm, std::int64_t begin, std::int64_t end, double* sums) {
  const auto slope = [&norm, begin](std::int64_t r, std::int64_t c, auto block) {
    return norm.slope(begin + r, c, block);
  };
  const auto grad = [&norm, begin](std::int64_t r, std::int64_t c, auto block) {
    block.load(norm.grad + (begin + r) * norm.width + c);
    return block;
  };
  sum_columns<T>(end - begin, norm.width, slope, sums);
  sum_columns<T>(end - begin, norm.width, grad, sums + norm.width);
}

}  // namespace

void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd) {
  check_rows(x, out);
  const std::int64_t width = x.shape[1];
  for (const TensorView* v : {&weight, &bias}) check_vector(*v, width);
  for (const TensorView* v : {&mean, &rstd}) check_vector(*v, x.shape[0]);
  visit_float(x.dtype, [&]<class T> {
    const T* w = weight.as<T>();
    const T* b = bias.as<T>();
    parallel_for(stream, x.shape[0], row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* from = x.as<T>() + row * width;
        T* to = out.as<T>() + row * width;
        const double n = static_cast<double>(width);
        const T m = static_cast<T>(sum_row(from, width) / n);
        const T scale = static_cast<T>(1.0 / std::sqrt(sum_of_squares(from, m, width) / n + eps));
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) to[c] = (from[c] - m) * scale * w[c] + b[c];
        mean.as<T>()[row] = m;
        rstd.as<T>()[row] = scale;
      }
    });
  });
}

void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out) {
  check_rows(x, grad);
  check_rows(x, out.x);
  const std::int64_t width = x.shape[1];
  for (const TensorView* v : {&weight, &out.weight, &out.bias}) check_vector(*v, width);
  for (const TensorView* v : {&mean, &rstd}) check_vector(*v, x.shape[0]);
  visit_float(x.dtype, [&]<class T> {
    const RowNorm<T> norm{x.as<T>(),    grad.as<T>(), weight.as<T>(),
                          mean.as<T>(), rstd.as<T>(), width};
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const auto reduce = [&](std::int64_t begin, std::int64_t end, double* sums) {
      for (std::int64_t row = begin; row < end; ++row) row_gradient(norm, row, dx + row * width);
      column_gradients(norm, begin, end, sums);  // reads again what the rows left in cache
    };
    reduce_rows(stream, x.shape[0], width, 2 * width, reduce, [&](std::int64_t k, double total) {
      (k < width ? dweight[k] : dbias[k - width]) = static_cast<T>(total);
    });
  });
}

}  // namespace moiety::kernels::cpu

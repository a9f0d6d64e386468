// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_norm.h"
#include "kernels/cpu_reduce.h"

namespace moiety::kernels::cpu {
namespace {

template <class T>
double sum_of_squares(const T* x, std::int64_t n) {
  return sum_terms<T>(n, [x](std::int64_t c, auto block) {
    auto square = block;
    block.load(x + c);
    square.clear();
    square.add_product(block, block);
    return square;
  });
}

/// dx = rstd (grad weight - x rstd^2 mean(grad weight x)), of one row.
template <class T>
void row_gradient(const T* x, const T* grad, const T* weight, T rstd, std::int64_t width, T* dx) {
  const double moment = sum_terms<T>(width, [=](std::int64_t c, auto block) {
    auto product = block;
    product.load(grad + c);
    block.load(weight + c);
    product.multiply(block);
    block.load(x + c);
    product.multiply(block);
    return product;
  });
  const T slope = static_cast<T>(moment / static_cast<double>(width)) * rstd * rstd;
#pragma GCC ivdep
  for (std::int64_t c = 0; c < width; ++c) dx[c] = rstd * (grad[c] * weight[c] - x[c] * slope);
}

}  // namespace

void rms_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
              const TensorView& out, const TensorView& rstd) {
  check_norm_rows(x, {&out});
  const std::int64_t width = x.shape[1];
  check_norm_vectors(width, {&weight});
  check_norm_vectors(x.shape[0], {&rstd});
  visit_float(x.dtype, [&]<class T> {
    const T* w = weight.as<T>();
    parallel_for(stream, x.shape[0], row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* from = x.as<T>() + row * width;
        T* to = out.as<T>() + row * width;
        const double square = sum_of_squares(from, width) / static_cast<double>(width);
        const T scale = static_cast<T>(1.0 / std::sqrt(square + eps));
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) to[c] = from[c] * scale * w[c];
        rstd.as<T>()[row] = scale;
      }
    });
  });
}

void rms_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                   const TensorView& weight, const TensorView& rstd, const TensorView& dx,
                   const TensorView& dweight) {
  check_norm_rows(x, {&grad, &dx});
  const std::int64_t width = x.shape[1];
  check_norm_vectors(width, {&weight, &dweight});
  check_norm_vectors(x.shape[0], {&rstd});
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    const T* g = grad.as<T>();
    const T* scale = rstd.as<T>();
    const auto reduce = [&](std::int64_t begin, std::int64_t end, double* sums) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * width;
        row_gradient(from + at, g + at, weight.as<T>(), scale[row], width, dx.as<T>() + at);
      }
      const auto term = [=](std::int64_t r, std::int64_t c, auto block) {
        auto product = block;
        product.load(g + (begin + r) * width + c);
        block.load(from + (begin + r) * width + c);
        block.scale(scale[begin + r]);
        product.multiply(block);
        return product;
      };
      sum_columns<T>(end - begin, width, term, sums);
    };
    reduce_rows(stream, x.shape[0], width, width, reduce,
                [&](std::int64_t c, double total) { dweight.as<T>()[c] = static_cast<T>(total); });
  });
}

}  // namespace moiety::kernels::cpu

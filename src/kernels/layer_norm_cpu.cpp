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

/// Sums over a row of g * weight and of g * weight * (x - mean).
template <class T>
std::pair<double, double> weighted_sums(const T* g, const T* weight, const T* x, T mean,
                                        std::int64_t n) {
  const auto product = [g, weight](std::int64_t c, auto block) {
    auto left = block;
    auto right = block;
    left.load(g + c);
    right.load(weight + c);
    block.clear();
    block.add_product(left, right);
    return block;
  };
  const auto moment = [x, mean, product](std::int64_t c, auto block) {
    auto centred = block;
    centred.load(x + c);
    centred.subtract(mean);
    const auto gw = product(c, block);
    block.clear();
    block.add_product(gw, centred);
    return block;
  };
  return {sum_terms<T>(n, product), sum_terms<T>(n, moment)};
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
    const T* w = weight.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const auto reduce = [&](std::int64_t begin, std::int64_t end, double* sums) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* from = x.as<T>() + row * width;
        const T* g = grad.as<T>() + row * width;
        T* dx = out.x.as<T>() + row * width;
        const T m = mean.as<T>()[row];
        const T r = rstd.as<T>()[row];
        const auto [total, moment] = weighted_sums(g, w, from, m, width);
        const T shift = static_cast<T>(total / static_cast<double>(width));
        const T slope = static_cast<T>(moment / static_cast<double>(width)) * r;
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
          const T normal = (from[c] - m) * r;
          dx[c] = r * (g[c] * w[c] - shift - normal * slope);
          sums[c] += static_cast<double>(g[c] * normal);
          sums[width + c] += static_cast<double>(g[c]);
        }
      }
    };
    reduce_rows(stream, x.shape[0], width, 2 * width, reduce, [&](std::int64_t k, double total) {
      (k < width ? dweight[k] : dbias[k - width]) = static_cast<T>(total);
    });
  });
}

}  // namespace moiety::kernels::cpu

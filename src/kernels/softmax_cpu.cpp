// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/cpu_math.h"
#include "kernels/cpu_reduce.h"
#include "kernels/reduce.h"

namespace moiety::kernels::cpu {
namespace {

void check_rows(const char* name, const TensorView& a, const TensorView& b) {
  MOIETY_CHECK(a.ndim() == 2 && a.shape == b.shape && a.contiguous() && b.contiguous(), name, ": ",
               a.shape, " and ", b.shape);
}

/// Calls f(begin of the row) for each row of x [N, C] in parallel.
template <class F>
void for_each_row(const Stream& stream, const TensorView& x, const F& f) {
  const std::int64_t width = x.shape[1];
  parallel_for(stream, x.shape[0], row_grain(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(row * width);
  });
}

template <class T>
double dot_row(const T* x, const T* y, std::int64_t n) {
  return sum_terms<T>(n, [x, y](std::int64_t c, auto block) {
    auto product = block;
    auto right = block;
    product.clear();
    block.load(x + c);
    right.load(y + c);
    product.add_product(block, right);
    return product;
  });
}

}  // namespace

void softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  check_rows("softmax", x, y);
  const std::int64_t width = x.shape[1];
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    T* to = y.as<T>();
    for_each_row(stream, x, [=](std::int64_t row) {
      const T* a = from + row;
      T* b = to + row;
      const T top = row_max(a, width);
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i) b[i] = math::exp(a[i] - top);
      const T scale = static_cast<T>(1.0 / sum_row(b, width));
      for (std::int64_t i = 0; i < width; ++i) b[i] *= scale;
    });
  });
}

void softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                  const TensorView& dx) {
  check_rows("softmax_grad", y, grad);
  check_rows("softmax_grad", y, dx);
  const std::int64_t width = y.shape[1];
  visit_float(y.dtype, [&]<class T> {
    const T* out = y.as<T>();
    const T* g = grad.as<T>();
    T* to = dx.as<T>();
    for_each_row(stream, y, [=](std::int64_t row) {
      const T mean = static_cast<T>(dot_row(out + row, g + row, width));
#pragma GCC ivdep
      for (std::int64_t i = row; i < row + width; ++i) to[i] = out[i] * (g[i] - mean);
    });
  });
}

void log_softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  check_rows("log_softmax", x, y);
  const std::int64_t width = x.shape[1];
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    T* to = y.as<T>();
    for_each_row(stream, x, [=](std::int64_t row) {
      const T* a = from + row;
      T* b = to + row;
      const T top = row_max(a, width);
      // The output row holds the exponentials until their sum is known.
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i) b[i] = math::exp(a[i] - top);
      const T log_total = static_cast<T>(std::log(sum_row(b, width)));
#pragma GCC ivdep
      for (std::int64_t i = 0; i < width; ++i) b[i] = (a[i] - top) - log_total;
    });
  });
}

void log_softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                      const TensorView& dx) {
  check_rows("log_softmax_grad", y, grad);
  check_rows("log_softmax_grad", y, dx);
  const std::int64_t width = y.shape[1];
  visit_float(y.dtype, [&]<class T> {
    const T* out = y.as<T>();
    const T* g = grad.as<T>();
    T* to = dx.as<T>();
    for_each_row(stream, y, [=](std::int64_t row) {
      const T total = static_cast<T>(sum_row(g + row, width));
#pragma GCC ivdep
      for (std::int64_t i = row; i < row + width; ++i) to[i] = g[i] - math::exp(out[i]) * total;
    });
  });
}

}  // namespace moiety::kernels::cpu

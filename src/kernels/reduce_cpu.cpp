// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/cpu_math.h"
#include "kernels/cpu_reduce.h"
#include "kernels/reduce.h"

namespace moiety::kernels::cpu {
namespace {

/// x [A, N, B] against what it is reduced to, [A, B].
void check_shapes(const char* name, const TensorView& x, const TensorView& reduced) {
  MOIETY_CHECK(x.ndim() == 3 && reduced.shape == Shape({x.shape[0], x.shape[2]}) &&
                   x.contiguous() && reduced.contiguous(),
               name, ": ", x.shape, " and ", reduced.shape);
}

/// Calls f(a) for each a < A in parallel, `work` elements each.
template <class F>
void for_each_outer(const Stream& stream, const TensorView& x, const F& f) {
  parallel_for(stream, x.shape[0], row_grain(x.shape[1] * x.shape[2]),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t a = begin; a < end; ++a) f(a);
               });
}

}  // namespace

void max(const Stream& stream, const TensorView& x, const TensorView& out,
         const TensorView& index) {
  check_shapes("max", x, out);
  check_shapes("max", x, index);
  const std::int64_t n = x.shape[1];
  const std::int64_t b = x.shape[2];
  MOIETY_CHECK(n > 0, "max over no elements");
  visit_float(x.dtype, [&]<class T> {
    for_each_outer(stream, x, [&](std::int64_t a) {
      const T* from = x.as<T>() + a * n * b;
      T* best = out.as<T>() + a * b;
      std::int32_t* at = index.as<std::int32_t>() + a * b;
      std::copy_n(from, b, best);
      std::fill_n(at, b, 0);
      for (std::int64_t i = 1; i < n; ++i) {
        const T* row = from + i * b;
#pragma GCC ivdep
        for (std::int64_t k = 0; k < b; ++k) {
          const bool larger = (row[k] > best[k]) | ((row[k] != row[k]) & (best[k] == best[k]));
          best[k] = larger ? row[k] : best[k];
          at[k] = larger ? static_cast<std::int32_t>(i) : at[k];
        }
      }
    });
  });
}

void select(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  check_shapes("select", x, out);
  check_shapes("select", x, index);
  const std::int64_t n = x.shape[1];
  const std::int64_t b = x.shape[2];
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    const std::int32_t* at = index.as<std::int32_t>();
    T* to = out.as<T>();
    parallel_for(stream, x.shape[0], row_grain(b), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin * b; i < end * b; ++i) {
        to[i] = from[(i / b * n + at[i]) * b + i % b];
      }
    });
  });
}

void place(const Stream& stream, const TensorView& x, const TensorView& index,
           const TensorView& out) {
  check_shapes("place", out, x);
  check_shapes("place", out, index);
  const std::int64_t n = out.shape[1];
  const std::int64_t b = out.shape[2];
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    const std::int32_t* at = index.as<std::int32_t>();
    for_each_outer(stream, out, [&](std::int64_t a) {
      T* to = out.as<T>() + a * n * b;
      std::fill_n(to, n * b, T(0));
      for (std::int64_t k = 0; k < b; ++k) to[at[a * b + k] * b + k] = from[a * b + k];
    });
  });
}

void log_sum_exp(const Stream& stream, const TensorView& x, const TensorView& out) {
  check_shapes("log_sum_exp", x, out);
  constexpr std::int64_t kPanel = 64;  // columns whose running values stay in cache
  const std::int64_t n = x.shape[1];
  const std::int64_t b = x.shape[2];
  visit_float(x.dtype, [&]<class T> {
    constexpr T kLowest = -std::numeric_limits<T>::infinity();
    for_each_outer(stream, x, [&](std::int64_t a) {
      const T* from = x.as<T>() + a * n * b;
      T* to = out.as<T>() + a * b;
      for (std::int64_t first = 0; first < b; first += kPanel) {
        const std::int64_t width = std::min(kPanel, b - first);
        std::array<T, kPanel> top;
        std::array<T, kPanel> total{};
        top.fill(kLowest);
        for (std::int64_t i = 0; i < n; ++i) {
          const T* row = from + i * b + first;
          for (std::int64_t k = 0; k < width; ++k) top[k] = row[k] > top[k] ? row[k] : top[k];
        }
        // All -infinity (or no elements): shift by 0, so that the result is -infinity, not NaN.
        for (T& t : top) t = t == kLowest ? T(0) : t;
        for (std::int64_t i = 0; i < n; ++i) {
          const T* row = from + i * b + first;
          for (std::int64_t k = 0; k < width; ++k) total[k] += math::exp(row[k] - top[k]);
        }
        for (std::int64_t k = 0; k < width; ++k) to[first + k] = top[k] + math::log(total[k]);
      }
    });
  });
}

}  // namespace moiety::kernels::cpu

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "kernels/cpu_loops.h"
#include "kernels/cpu_math.h"
#include "kernels/lanes.h"
#include "kernels/segment.h"

namespace moiety::kernels::cpu {
namespace {

/// Columns handled together: their running values stay in the first-level cache.
constexpr std::int64_t kColumns = 64;

/// A segment's rows [first, last) of columns [c, c + width).
struct Patch {
  std::int64_t first;
  std::int64_t last;
  std::int64_t c;
  std::int64_t width;
};

template <class Body>
void for_each_patch(const Stream& stream, const TensorView& ptr_view, std::int64_t channels,
                    const Body& body) {
  const auto* ptr = ptr_view.as<std::int32_t>();
  const std::int64_t segments = ptr_view.numel() - 1;
  const std::int64_t rows = 1 + ptr[segments] / std::max<std::int64_t>(1, segments);
  parallel_for(stream, segments, row_grain(3 * rows * channels),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t m = begin; m < end; ++m) {
                   for (std::int64_t c = 0; c < channels; c += kColumns) {
                     body(Patch{ptr[m], ptr[m + 1], c, std::min(kColumns, channels - c)});
                   }
                 }
               });
}

template <class T>
void softmax_patch(const T* x, std::int64_t channels, const Patch& p, T* out) {
  if (p.first == p.last) return;
  std::array<T, kColumns> largest, sum{};
  const T* top = x + p.first * channels + p.c;
  for (std::int64_t c = 0; c < p.width; ++c) largest[c] = top[c];
  for (std::int64_t n = p.first + 1; n < p.last; ++n) {
    const T* row = x + n * channels + p.c;
    for (std::int64_t c = 0; c < p.width; ++c) largest[c] = std::max(largest[c], row[c]);
  }
  for (std::int64_t n = p.first; n < p.last; ++n) {
    const T* row = x + n * channels + p.c;
    T* to = out + n * channels + p.c;
    for (std::int64_t c = 0; c < p.width; ++c) {
      to[c] = math::exp(row[c] - largest[c]);
      sum[c] += to[c];
    }
  }
  for (std::int64_t c = 0; c < p.width; ++c) sum[c] = T{1} / sum[c];
  for (std::int64_t n = p.first; n < p.last; ++n) {
    T* to = out + n * channels + p.c;
    for (std::int64_t c = 0; c < p.width; ++c) to[c] *= sum[c];
  }
}

template <class T>
void softmax_backward_patch(const T* y, const T* grad, std::int64_t channels, const Patch& p,
                            T* dx) {
  std::array<T, kColumns> sum{};
  for (std::int64_t n = p.first; n < p.last; ++n) {
    const std::int64_t at = n * channels + p.c;
    for (std::int64_t c = 0; c < p.width; ++c) sum[c] += y[at + c] * grad[at + c];
  }
  for (std::int64_t n = p.first; n < p.last; ++n) {
    const std::int64_t at = n * channels + p.c;
    for (std::int64_t c = 0; c < p.width; ++c) dx[at + c] = y[at + c] * (grad[at + c] - sum[c]);
  }
}

}  // namespace

void segment_softmax(const Stream& stream, const TensorView& x_view, const TensorView& ptr,
                     const TensorView& out_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    T* out = out_view.as<T>();
    for_each_patch(stream, ptr, channels,
                   [=](const Patch& patch) { softmax_patch(x, channels, patch, out); });
  });
}

void segment_softmax_backward(const Stream& stream, const TensorView& y_view,
                              const TensorView& grad_view, const TensorView& ptr,
                              const TensorView& dx_view) {
  visit_float(y_view.dtype, [&]<class T>() {
    const std::int64_t channels = y_view.shape[1];
    const T* y = y_view.as<T>();
    const T* grad = grad_view.as<T>();
    T* dx = dx_view.as<T>();
    for_each_patch(stream, ptr, channels, [=](const Patch& patch) {
      softmax_backward_patch(y, grad, channels, patch, dx);
    });
  });
}

}  // namespace moiety::kernels::cpu

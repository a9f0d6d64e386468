// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_loops.h"
#include "kernels/cpu_math.h"
#include "kernels/lanes.h"
#include "kernels/segment.h"

namespace moiety::kernels::cpu {
namespace {

/// Calls body(first segment, last segment) for tasks of about as many rows each.
template <class Body>
void for_each_group(const Stream& stream, const TensorView& ptr_view, std::int64_t channels,
                    const Body& body) {
  const std::int64_t segments = ptr_view.numel() - 1;
  const std::int64_t rows = ptr_view.as<std::int32_t>()[segments];
  const std::int64_t mean_rows = 1 + rows / std::max<std::int64_t>(1, segments);
  parallel_for(stream, segments, row_grain(mean_rows * channels), body);
}

/// out = x - the largest of its segment and column.
template <class T>
void subtract_largest(const T* x, std::int64_t channels, std::int64_t first, std::int64_t last,
                      T* out) {
  for_column_blocks<T>(0, channels, [=](std::int64_t c, auto largest) {
    auto value = largest;
    largest.load(x + first * channels + c);
    for (std::int64_t n = first + 1; n < last; ++n) {
      value.load(x + n * channels + c);
      largest.keep_larger(value);
    }
    for (std::int64_t n = first; n < last; ++n) {
      value.load(x + n * channels + c);
      value.subtract(largest);
      value.store(out + n * channels + c);
    }
  });
}

/// Divides by the sum of the segment and column.
template <class T>
void divide_by_sum(std::int64_t channels, std::int64_t first, std::int64_t last, T* out) {
  for_column_blocks<T>(0, channels, [=](std::int64_t c, auto sum) {
    auto value = sum;
    sum.clear();
    for (std::int64_t n = first; n < last; ++n) {
      value.load(out + n * channels + c);
      sum.add(value);
    }
    sum.invert();
    for (std::int64_t n = first; n < last; ++n) {
      value.load(out + n * channels + c);
      value.multiply(sum);
      value.store(out + n * channels + c);
    }
  });
}

template <class T>
void softmax_gradient(const T* y, const T* grad, std::int64_t channels, std::int64_t first,
                      std::int64_t last, T* dx) {
  for_column_blocks<T>(0, channels, [=](std::int64_t c, auto sum) {
    auto value = sum, flow = sum;
    sum.clear();
    for (std::int64_t n = first; n < last; ++n) {
      value.load(y + n * channels + c);
      flow.load(grad + n * channels + c);
      sum.add_product(value, flow);
    }
    for (std::int64_t n = first; n < last; ++n) {
      value.load(y + n * channels + c);
      flow.load(grad + n * channels + c);
      flow.subtract(sum);
      flow.multiply(value);
      flow.store(dx + n * channels + c);
    }
  });
}

}  // namespace

void segment_softmax(const Stream& stream, const TensorView& x_view, const TensorView& ptr_view,
                     const TensorView& out_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    const auto* ptr = ptr_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    for_each_group(stream, ptr_view, channels, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        if (ptr[m] < ptr[m + 1]) subtract_largest(x, channels, ptr[m], ptr[m + 1], out);
      }
      // One long loop for all segments: rows of a few columns would leave vectors mostly empty.
      const std::int64_t last = ptr[end] * channels;
      for (std::int64_t i = ptr[begin] * channels; i < last; ++i) out[i] = math::exp(out[i]);
      for (std::int64_t m = begin; m < end; ++m) {
        divide_by_sum(channels, ptr[m], ptr[m + 1], out);
      }
    });
  });
}

void segment_softmax_backward(const Stream& stream, const TensorView& y_view,
                              const TensorView& grad_view, const TensorView& ptr_view,
                              const TensorView& dx_view) {
  visit_float(y_view.dtype, [&]<class T>() {
    const std::int64_t channels = y_view.shape[1];
    const T* y = y_view.as<T>();
    const T* grad = grad_view.as<T>();
    const auto* ptr = ptr_view.as<std::int32_t>();
    T* dx = dx_view.as<T>();
    for_each_group(stream, ptr_view, channels, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        softmax_gradient(y, grad, channels, ptr[m], ptr[m + 1], dx);
      }
    });
  });
}

}  // namespace moiety::kernels::cpu

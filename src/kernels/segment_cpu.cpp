// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/cpu_loops.h"
#include "kernels/lanes.h"
#include "kernels/segment.h"

namespace moiety::kernels::cpu {
namespace {

/// Calls body(m, first row, last row) for each segment, in parallel by rows touched on average.
template <class Body>
void for_each_segment(const Stream& stream, const TensorView& ptr_view, std::int64_t channels,
                      const Body& body) {
  const auto* ptr = ptr_view.as<std::int32_t>();
  const std::int64_t segments = ptr_view.numel() - 1;
  const std::int64_t rows = 1 + ptr[segments] / std::max<std::int64_t>(1, segments);
  parallel_for(stream, segments, row_grain(rows * channels),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t m = begin; m < end; ++m) body(m, ptr[m], ptr[m + 1]);
               });
}

template <class T>
T factor_of(SegmentScale scale, std::int64_t rows) {
  return scale == SegmentScale::by_size && rows > 0 ? T{1} / static_cast<T>(rows) : T{1};
}

}  // namespace

void segment_sum(const Stream& stream, const TensorView& x_view, const TensorView& ptr,
                 SegmentScale scale, const TensorView& out_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    T* out = out_view.as<T>();
    for_each_segment(stream, ptr, channels,
                     [=](std::int64_t m, std::int64_t first, std::int64_t last) {
                       const T factor = factor_of<T>(scale, last - first);
                       for_column_blocks<T>(0, channels, [&](std::int64_t c, auto sum) {
                         auto term = sum;
                         sum.clear();
                         for (std::int64_t n = first; n < last; ++n) {
                           term.load(x + n * channels + c);
                           sum.add(term);
                         }
                         sum.scale(factor);
                         sum.store(out + m * channels + c);
                       });
                     });
  });
}

void segment_broadcast(const Stream& stream, const TensorView& y_view, const TensorView& ptr,
                       SegmentScale scale, const TensorView& out_view) {
  visit_float(y_view.dtype, [&]<class T>() {
    const std::int64_t channels = y_view.shape[1];
    const T* y = y_view.as<T>();
    T* out = out_view.as<T>();
    for_each_segment(stream, ptr, channels,
                     [=](std::int64_t m, std::int64_t first, std::int64_t last) {
                       const T factor = factor_of<T>(scale, last - first);
                       for_column_blocks<T>(0, channels, [&](std::int64_t c, auto value) {
                         value.load(y + m * channels + c);
                         value.scale(factor);
                         for (std::int64_t n = first; n < last; ++n)
                           value.store(out + n * channels + c);
                       });
                     });
  });
}

void segment_max(const Stream& stream, const TensorView& x_view, const TensorView& ptr,
                 const TensorView& out_view, const TensorView& row_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    T* out = out_view.as<T>();
    auto* row = row_view.as<std::int32_t>();
    for_each_segment(
        stream, ptr, channels, [=](std::int64_t m, std::int64_t first, std::int64_t last) {
          T* best = out + m * channels;
          std::int32_t* best_row = row + m * channels;
          for (std::int64_t c = 0; c < channels; ++c) {
            best[c] = first < last ? x[first * channels + c] : T{0};
            best_row[c] = first < last ? static_cast<std::int32_t>(first) : -1;
          }
          for (std::int64_t n = first + 1; n < last; ++n) {
            const T* candidate = x + n * channels;
            for (std::int64_t c = 0; c < channels; ++c) {
              const T value = candidate[c];
              const bool larger = (value > best[c]) | (value != value && best[c] == best[c]);
              best[c] = larger ? value : best[c];
              best_row[c] = larger ? static_cast<std::int32_t>(n) : best_row[c];
            }
          }
        });
  });
}

void segment_pick(const Stream& stream, const TensorView& x_view, const TensorView& row_view,
                  const TensorView& out_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    const auto* row = row_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    parallel_for(stream, out_view.shape[0], row_grain(channels),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t m = begin; m < end; ++m) {
                     for (std::int64_t c = 0; c < channels; ++c) {
                       const std::int64_t at = row[m * channels + c];
                       out[m * channels + c] = at < 0 ? T{0} : x[at * channels + c];
                     }
                   }
                 });
  });
}

void segment_place(const Stream& stream, const TensorView& y_view, const TensorView& row_view,
                   const TensorView& ptr, const TensorView& out_view) {
  visit_float(y_view.dtype, [&]<class T>() {
    const std::int64_t channels = y_view.shape[1];
    const T* y = y_view.as<T>();
    const auto* row = row_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    for_each_segment(stream, ptr, channels,
                     [=](std::int64_t m, std::int64_t first, std::int64_t last) {
                       if (first == last) return;
                       std::fill(out + first * channels, out + last * channels, T{0});
                       for (std::int64_t c = 0; c < channels; ++c) {
                         out[row[m * channels + c] * channels + c] = y[m * channels + c];
                       }
                     });
  });
}

}  // namespace moiety::kernels::cpu

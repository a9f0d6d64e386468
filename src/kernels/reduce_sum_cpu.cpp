// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_reduce.h"
#include "kernels/reduce.h"

namespace moiety::kernels::cpu {
namespace {

constexpr std::int64_t kMaxPanel = 4096;

/// The sum over n of x [A, N, B], cut into tasks: panels of columns for each a, and where these are
/// few, chunks of rows whose sums are added afterwards.
template <class T>
struct SumTasks {
  SumTasks(const T* elements, const Shape& shape)
      : x(elements), rows(shape[1]), columns(shape[2]), panel(std::min(columns, kMaxPanel)) {
    panels_each = panel == 0 ? 0 : (columns + panel - 1) / panel;
    panels = shape[0] * panels_each;
    chunk = panels >= 64 ? rows : std::min(rows, chunk_rows(rows, panel));
    chunks = chunk == 0 ? 1 : (rows + chunk - 1) / chunk;
  }

  std::int64_t first_column(std::int64_t p) const { return p % panels_each * panel; }
  std::int64_t width(std::int64_t p) const { return std::min(panel, columns - first_column(p)); }
  /// Where the results of a panel begin in the output.
  std::int64_t place(std::int64_t p) const { return p / panels_each * columns + first_column(p); }

  /// Sums one chunk of rows of a panel: sums [width].
  void reduce(std::int64_t p, std::int64_t which, double* sums) const {
    const std::int64_t first = which * chunk;
    const std::int64_t count = std::min(chunk, rows - first);
    const T* start = x + (p / panels_each * rows + first) * columns + first_column(p);
    if (columns == 1) {
      *sums = sum_row(start, count);
      return;
    }
    std::fill_n(sums, width(p), 0.0);
    const auto row_block = [start, stride = columns](std::int64_t r, std::int64_t c, auto block) {
      block.load(start + r * stride + c);
      return block;
    };
    sum_columns<T>(count, width(p), row_block, sums);
  }

  const T* x;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t panel;
  std::int64_t panels_each;  ///< for one a
  std::int64_t panels;
  std::int64_t chunk;
  std::int64_t chunks;
};

template <class T>
void store_scaled(double scale, const double* sums, T* to, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) to[c] = static_cast<T>(scale * sums[c]);
}

template <class T>
void sum_whole_panels(const Stream& stream, const SumTasks<T>& tasks, double scale, T* to) {
  parallel_for(stream, tasks.panels, row_grain(tasks.rows * tasks.panel),
               [&](std::int64_t begin, std::int64_t end) {
                 std::array<double, kMaxPanel> sums;
                 for (std::int64_t p = begin; p < end; ++p) {
                   tasks.reduce(p, 0, sums.data());
                   store_scaled(scale, sums.data(), to + tasks.place(p), tasks.width(p));
                 }
               });
}

template <class T>
void sum_in_chunks(const Stream& stream, const SumTasks<T>& tasks, double scale, T* to) {
  const std::int64_t count = tasks.panels * tasks.chunks;
  const Storage storage(stream.device(),
                        static_cast<std::size_t>(count * tasks.panel) * sizeof(double));
  auto* partial = reinterpret_cast<double*>(storage.data());
  parallel_for(stream, count, 1, [&](std::int64_t task, std::int64_t) {
    tasks.reduce(task / tasks.chunks, task % tasks.chunks, partial + task * tasks.panel);
  });
  for (std::int64_t p = 0; p < tasks.panels; ++p) {
    double* total = partial + p * tasks.chunks * tasks.panel;
    for (std::int64_t k = 1; k < tasks.chunks; ++k) {
      const double* more = total + k * tasks.panel;
      for (std::int64_t c = 0; c < tasks.width(p); ++c) total[c] += more[c];
    }
    store_scaled(scale, total, to + tasks.place(p), tasks.width(p));
  }
}

}  // namespace

void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.ndim() == 3 && out.shape == Shape({x.shape[0], x.shape[2]}) && x.contiguous() &&
                   out.contiguous(),
               "sum: ", x.shape, " to ", out.shape);
  visit_float(x.dtype, [&]<class T> {
    const SumTasks<T> tasks(x.as<T>(), x.shape);
    if (tasks.chunks == 1) {
      sum_whole_panels(stream, tasks, scale, out.as<T>());
    } else {
      sum_in_chunks(stream, tasks, scale, out.as<T>());
    }
  });
}

}  // namespace moiety::kernels::cpu

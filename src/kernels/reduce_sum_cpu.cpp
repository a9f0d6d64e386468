// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_reduce.h"
#include "kernels/reduce.h"

namespace moiety::kernels::cpu {
namespace {

/// How the sum over n of x [A, N, B] is cut into tasks: panels of columns, and where these and A
/// are few, chunks of rows whose sums are added afterwards.
struct SumPlan {
  explicit SumPlan(const Shape& x) : rows(x[1]), columns(x[2]) {
    panel = std::min<std::int64_t>(columns, 4096);
    panels = panel == 0 ? 0 : (columns + panel - 1) / panel;
    outer = x[0] * panels;
    chunk = outer >= 64 ? rows : std::min(rows, chunk_rows(rows, panel));
    chunks = chunk == 0 ? 1 : (rows + chunk - 1) / chunk;
  }
  std::int64_t rows, columns, panel, panels, outer, chunk, chunks;
};

template <class T>
void sum_as(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  const SumPlan plan(x.shape);
  const T* from = x.as<T>();
  T* to = out.as<T>();
  const auto reduce = [&](std::int64_t outer, std::int64_t chunk, const auto& store) {
    const std::int64_t first = chunk * plan.chunk;
    const std::int64_t rows = std::min(plan.chunk, plan.rows - first);
    const std::int64_t column = outer % plan.panels * plan.panel;
    const T* start = from + (outer / plan.panels * plan.rows + first) * plan.columns + column;
    if (plan.columns == 1) return store(0, sum_row(start, rows));
    const auto row_block = [=, stride = plan.columns](std::int64_t r, std::int64_t c, auto block) {
      block.load(start + r * stride + c);
      return block;
    };
    sum_columns<T>(rows, std::min(plan.panel, plan.columns - column), row_block, store);
  };
  const auto place_of = [&](std::int64_t outer) {
    return outer / plan.panels * plan.columns + outer % plan.panels * plan.panel;
  };
  if (plan.chunks == 1) {
    parallel_for(stream, plan.outer, row_grain(plan.rows * plan.panel),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t outer = begin; outer < end; ++outer) {
                     T* row = to + place_of(outer);
                     reduce(outer, 0, [&](std::int64_t c, double total) {
                       row[c] = static_cast<T>(scale * total);
                     });
                   }
                 });
    return;
  }
  const std::int64_t tasks = plan.outer * plan.chunks;
  const Storage storage(stream.device(), static_cast<std::size_t>(tasks * plan.panel) * 8);
  auto* partial = reinterpret_cast<double*>(storage.data());
  parallel_for(stream, tasks, 1, [&](std::int64_t task, std::int64_t) {
    double* row = partial + task * plan.panel;
    reduce(task / plan.chunks, task % plan.chunks,
           [&](std::int64_t c, double total) { row[c] = total; });
  });
  for (std::int64_t outer = 0; outer < plan.outer; ++outer) {
    const double* first = partial + outer * plan.chunks * plan.panel;
    const std::int64_t width =
        std::min(plan.panel, plan.columns - outer % plan.panels * plan.panel);
    for (std::int64_t c = 0; c < width; ++c) {
      double total = 0;
      for (std::int64_t k = 0; k < plan.chunks; ++k) total += first[k * plan.panel + c];
      to[place_of(outer) + c] = static_cast<T>(scale * total);
    }
  }
}

}  // namespace

void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.ndim() == 3 && out.shape == Shape({x.shape[0], x.shape[2]}) && x.contiguous() &&
                   out.contiguous(),
               "sum: ", x.shape, " to ", out.shape);
  visit_float(x.dtype, [&]<class T> { sum_as<T>(stream, scale, x, out); });
}

}  // namespace moiety::kernels::cpu

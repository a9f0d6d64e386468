// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/table_sum.cuh"
#include "kernels/gather.h"

namespace moiety::kernels::cuda {
namespace {

/// out[n] = sum over the group's features of the table rows that n selects, on top of what is there
/// when `accumulate`. A team takes one row. index [rows, stride], out [rows, columns].
template <class T, int kCount>
__global__ void embedding_sum_kernel(const T* __restrict__ table,
                                     const std::int32_t* __restrict__ index, FeatureGroup group,
                                     FaultReport bad_index, std::int64_t rows, std::int64_t columns,
                                     bool accumulate, T* __restrict__ out) {
  const std::int64_t n = team_row();
  const std::int64_t c = team_column(kCount);
  if (n >= rows || c >= columns) return;
  Pack<T, kCount> sum;
  if (accumulate) {
    sum.load(out + n * columns + c);
  } else {
    sum.fill(0);
  }
  bool valid = true;
  for (int f = 0; f < group.count; ++f) {
    const std::int32_t value = group.value(index, n, f);
    if (!group.contains(value, f)) {
      valid = false;
      continue;
    }
    Pack<T, kCount> term;
    term.load(table + (group.first[f] + value) * columns + c);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum.v[i] += term.v[i];
  }
  if (!valid) group.report(index, n, bad_index);
  sum.store(out + n * columns + c);
}

/// Rows of grad [N, C], as table_sum.cuh takes them.
template <class T>
struct GradRows {
  const T* grad;
  std::int64_t columns;

  __device__ bool usable(std::int64_t) const { return true; }
  __device__ Compute<T> operator()(std::int64_t n, std::int64_t c) const {
    return widen(grad[n * columns + c]);
  }
};

}  // namespace

void embedding_sum(const Stream& stream, const TensorView& table_view, const TensorView& index_view,
                   const std::vector<std::int32_t>& dims, const TensorView& out_view) {
  const std::int64_t rows = out_view.shape[0];
  const std::int64_t columns = out_view.shape[1];
  const auto* index = index_view.as<std::int32_t>();
  const FaultReport bad_index = fault_report(stream, "embedding_sum", "index");
  visit_floating(table_view.dtype, [&]<class T>() {
    const T* table = table_view.as<T>();
    T* out = out_view.as<T>();
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          for_each_feature_group(dims, [&](const FeatureGroup& group, std::int64_t first_row) {
            launch(embedding_sum_kernel<T, kCount>, row_threads(rows, columns, kCount), stream,
                   table + first_row * columns, index, group, bad_index, rows, columns,
                   group.begin > 0, out);
          });
        },
        table, out);
  });
}

void embedding_sum_backward(const Stream& stream, const TensorView& grad, const TensorView& index,
                            const std::vector<std::int32_t>& dims, const TensorView& dtable) {
  const std::int64_t columns = grad.shape[1];
  const FaultReport bad_index = fault_report(stream, "embedding_sum", "index");
  visit_floating(grad.dtype, [&]<class T>() {
    const GradRows<T> rows{grad.as<T>(), columns};
    for_each_feature_group(dims, [&](const FeatureGroup& group, std::int64_t first_row) {
      sum_into_table(stream, index.as<std::int32_t>(), group, bad_index, rows, grad.shape[0],
                     columns, dtable.as<T>() + first_row * columns);
    });
  });
}

}  // namespace moiety::kernels::cuda

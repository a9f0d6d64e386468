// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/cpu_loops.h"
#include "kernels/gather.h"
#include "kernels/lanes.h"

namespace moiety::kernels::cpu {
namespace {

/// First table row of each feature.
std::vector<std::int64_t> first_rows(const std::vector<std::int32_t>& dims) {
  std::vector<std::int64_t> out;
  std::int64_t next = 0;
  for (const std::int32_t dim : dims) {
    out.push_back(next);
    next += dim;
  }
  return out;
}

/// Throws Error unless all categories of nodes [begin, end) are in range.
void check_categories(const std::int32_t* index, const std::vector<std::int32_t>& dims,
                      std::int64_t begin, std::int64_t end) {
  const std::size_t features = dims.size();
  const std::int32_t* category = index + begin * static_cast<std::int64_t>(features);
  for (std::int64_t n = begin; n < end; ++n, category += features) {
    bool bad = false;
    for (std::size_t f = 0; f < features; ++f) bad |= category[f] < 0 || category[f] >= dims[f];
    for (std::size_t f = 0; bad && f < features; ++f) {
      check(category[f] >= 0 && category[f] < dims[f], "embedding: row ", n, ", feature ", f,
            ": value ", category[f], " is outside [0, ", dims[f], ")");
    }
  }
}

// The loops below take all they read by value and are flattened, so that it stays in registers.

/// Table rows of the nodes: feature f of node n reads row first[f] + category[n, f].
struct TableRows {
  const std::int32_t* category;
  const std::int64_t* first;
  std::int64_t features;
  std::int64_t channels;

  std::int64_t begin(std::int64_t n, std::int64_t f) const {
    return (first[f] + category[n * features + f]) * channels;
  }
};

/// Rows [begin, end) of embedding_sum.
template <class T>
[[gnu::flatten]] void embed_rows(const T* table, const TableRows rows, std::int64_t begin,
                                 std::int64_t end, T* out) {
  for (std::int64_t n = begin; n < end; ++n) {
    for_column_blocks<T>(0, rows.channels, [=](std::int64_t c, auto sum) {
      auto term = sum;
      sum.clear();
      for (std::int64_t f = 0; f < rows.features; ++f) {
        term.load(table + rows.begin(n, f) + c);
        sum.add(term);
      }
      sum.store(out + n * rows.channels + c);
    });
  }
}

/// Adds all of grad into dtable, columns [c_begin, c_end) alone.
template <class T>
[[gnu::flatten]] void add_to_table(const T* grad, const TableRows rows, std::int64_t count,
                                   std::int64_t c_begin, std::int64_t c_end, T* dtable) {
  for (std::int64_t n = 0; n < count; ++n) {
    for_column_blocks<T>(c_begin, c_end, [=](std::int64_t c, auto flow) {
      auto sum = flow;
      flow.load(grad + n * rows.channels + c);
      for (std::int64_t f = 0; f < rows.features; ++f) {
        T* to = dtable + rows.begin(n, f) + c;
        sum.load(to);
        sum.add(flow);
        sum.store(to);
      }
    });
  }
}

template <class T>
[[gnu::flatten]] void scatter_rows(const T* values, const std::int32_t* ptr,
                                   const std::int32_t* order, std::int64_t channels,
                                   std::int64_t begin, std::int64_t end, T* out) {
  for (std::int64_t n = begin; n < end; ++n) {
    for_column_blocks<T>(0, channels, [=](std::int64_t c, auto sum) {
      auto term = sum;
      sum.clear();
      const std::int64_t last = ptr[n + 1];
      for (std::int64_t k = ptr[n]; k < last; ++k) {
        term.load(values + order[k] * channels + c);
        sum.add(term);
      }
      sum.store(out + n * channels + c);
    });
  }
}

}  // namespace

void gather(const Stream& stream, const TensorView& x_view, const TensorView& index_view,
            const TensorView& out_view) {
  visit_float(x_view.dtype, [&]<class T>() {
    const std::int64_t channels = x_view.shape[1];
    const T* x = x_view.as<T>();
    const auto* index = index_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    parallel_for(stream, index_view.numel(), row_grain(channels),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t e = begin; e < end; ++e) {
                     const T* from = x + index[e] * channels;
                     for_column_blocks<T>(0, channels, [&](std::int64_t c, auto block) {
                       block.load(from + c);
                       block.store(out + e * channels + c);
                     });
                   }
                 });
  });
}

void scatter_sum(const Stream& stream, const TensorView& values_view, const TensorView& ptr_view,
                 const TensorView& order_view, const TensorView& out_view) {
  visit_float(values_view.dtype, [&]<class T>() {
    const std::int64_t rows = out_view.shape[0];
    const std::int64_t channels = out_view.shape[1];
    const T* values = values_view.as<T>();
    const auto* ptr = ptr_view.as<std::int32_t>();
    const auto* order = order_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    const std::int64_t work = (1 + order_view.numel() / std::max<std::int64_t>(1, rows)) * channels;
    parallel_for(stream, rows, row_grain(work), [=](std::int64_t begin, std::int64_t end) {
      scatter_rows(values, ptr, order, channels, begin, end, out);
    });
  });
}

void embedding_sum(const Stream& stream, const TensorView& table_view, const TensorView& index_view,
                   const std::vector<std::int32_t>& dims, const TensorView& out_view) {
  visit_float(table_view.dtype, [&]<class T>() {
    const auto features = static_cast<std::int64_t>(dims.size());
    const std::vector<std::int64_t> first = first_rows(dims);
    const auto* index = index_view.as<std::int32_t>();
    const TableRows rows{index, first.data(), features, table_view.shape[1]};
    const T* table = table_view.as<T>();
    T* out = out_view.as<T>();
    parallel_for(stream, index_view.shape[0], row_grain((1 + features) * rows.channels),
                 [&](std::int64_t begin, std::int64_t end) {
                   check_categories(index, dims, begin, end);
                   embed_rows(table, rows, begin, end, out);
                 });
  });
}

void embedding_sum_backward(const Stream& stream, const TensorView& grad_view,
                            const TensorView& index_view, const std::vector<std::int32_t>& dims,
                            const TensorView& dtable_view) {
  visit_float(grad_view.dtype, [&]<class T>() {
    const std::int64_t count = grad_view.shape[0];
    const std::vector<std::int64_t> first = first_rows(dims);
    const auto* index = index_view.as<std::int32_t>();
    const TableRows rows{index, first.data(), static_cast<std::int64_t>(dims.size()),
                         grad_view.shape[1]};
    const T* grad = grad_view.as<T>();
    T* dtable = dtable_view.as<T>();
    if (dtable_view.numel() == 0) return;
    std::memset(dtable, 0, static_cast<std::size_t>(dtable_view.numel()) * sizeof(T));
    // Nodes share rows of the table, so tasks take columns: each sums its own in order of n.
    parallel_for(stream, rows.channels, column_grain<T>(index_view.numel() + count),
                 [&](std::int64_t begin, std::int64_t end) {
                   add_to_table(grad, rows, count, begin, end, dtable);
                 });
  });
}

}  // namespace moiety::kernels::cpu

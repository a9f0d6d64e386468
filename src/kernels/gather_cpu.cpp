// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <span>

#include "kernels/cpu_loops.h"
#include "kernels/gather.h"
#include "kernels/lanes.h"

namespace moiety::kernels::cpu {
namespace {

/// Where in the table the rows of one node begin.
class RowFinder {
 public:
  RowFinder(const std::vector<std::int32_t>& dims, std::int64_t channels)
      : dims_(dims), channels_(channels), begin_(dims.size()) {}

  /// Throws Error where a category of node `n` is out of range.
  void find(const std::int32_t* category, std::int64_t n) {
    std::int64_t first = 0;
    bool bad = false;
    for (std::size_t f = 0; f < dims_.size(); ++f) {
      bad |= static_cast<std::uint32_t>(category[f]) >= static_cast<std::uint32_t>(dims_[f]);
      begin_[f] = (first + category[f]) * channels_;
      first += dims_[f];
    }
    if (bad) [[unlikely]]
      throw_bad(category, n);
  }
  std::span<const std::int64_t> begins() const { return begin_; }

 private:
  void throw_bad(const std::int32_t* category, std::int64_t n) const {
    for (std::size_t f = 0; f < dims_.size(); ++f) {
      check(category[f] >= 0 && category[f] < dims_[f], "embedding: row ", n, ", feature ", f,
            ": value ", category[f], " is outside [0, ", dims_[f], ")");
    }
  }

  const std::vector<std::int32_t>& dims_;
  std::int64_t channels_;
  std::vector<std::int64_t> begin_;
};

/// Adds rows [0, rows) of grad into dtable, columns [c_begin, c_end) alone.
template <class T>
void add_to_table(const T* grad, const std::int32_t* index, std::int64_t rows,
                  std::int64_t channels, const std::vector<std::int32_t>& dims,
                  std::int64_t c_begin, std::int64_t c_end, T* dtable) {
  RowFinder finder(dims, channels);
  const auto features = static_cast<std::int64_t>(dims.size());
  for (std::int64_t n = 0; n < rows; ++n) {
    finder.find(index + n * features, n);
    for_column_blocks<T>(c_begin, c_end, [&](std::int64_t c, auto flow) {
      auto sum = flow;
      flow.load(grad + n * channels + c);
      for (const std::int64_t begin : finder.begins()) {
        T* to = dtable + begin + c;
        sum.load(to);
        sum.add(flow);
        sum.store(to);
      }
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
    parallel_for(stream, rows, row_grain(work), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        for_column_blocks<T>(0, channels, [&](std::int64_t c, auto sum) {
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
    });
  });
}

void embedding_sum(const Stream& stream, const TensorView& table_view, const TensorView& index_view,
                   const std::vector<std::int32_t>& dims, const TensorView& out_view) {
  visit_float(table_view.dtype, [&]<class T>() {
    const std::int64_t channels = table_view.shape[1];
    const auto features = static_cast<std::int64_t>(dims.size());
    const T* table = table_view.as<T>();
    const auto* index = index_view.as<std::int32_t>();
    T* out = out_view.as<T>();
    parallel_for(stream, index_view.shape[0], row_grain((1 + features) * channels),
                 [&](std::int64_t begin, std::int64_t end) {
                   RowFinder finder(dims, channels);
                   for (std::int64_t n = begin; n < end; ++n) {
                     finder.find(index + n * features, n);
                     for_column_blocks<T>(0, channels, [&](std::int64_t c, auto sum) {
                       auto term = sum;
                       sum.clear();
                       for (const std::int64_t row : finder.begins()) {
                         term.load(table + row + c);
                         sum.add(term);
                       }
                       sum.store(out + n * channels + c);
                     });
                   }
                 });
  });
}

void embedding_sum_backward(const Stream& stream, const TensorView& grad_view,
                            const TensorView& index_view, const std::vector<std::int32_t>& dims,
                            const TensorView& dtable_view) {
  visit_float(grad_view.dtype, [&]<class T>() {
    const std::int64_t rows = grad_view.shape[0];
    const std::int64_t channels = grad_view.shape[1];
    const T* grad = grad_view.as<T>();
    const auto* index = index_view.as<std::int32_t>();
    T* dtable = dtable_view.as<T>();
    if (dtable_view.numel() == 0) return;
    std::memset(dtable, 0, static_cast<std::size_t>(dtable_view.numel()) * sizeof(T));
    // Nodes share rows of the table, so tasks take columns: each sums its own in order of n.
    parallel_for(stream, channels, column_grain<T>(index_view.numel() + rows),
                 [&](std::int64_t begin, std::int64_t end) {
                   add_to_table(grad, index, rows, channels, dims, begin, end, dtable);
                 });
  });
}

}  // namespace moiety::kernels::cpu

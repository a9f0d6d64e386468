// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/lanes.h"
#include "kernels/product.h"
#include "kernels/transpose_cpu.h"

namespace moiety::kernels::cpu {
namespace {

// A tile of c is kRows x kVectors vectors and stays in registers while it runs over a panel of b
// that is kDepth deep and stays in the first-level cache. Twelve accumulators, two vectors of b and
// one broadcast element of a fit the 16 registers of AVX2 and hide the latency of an addition;
// AVX-512 has room for more rows, and addresses for no more than eight.
constexpr int kRows = kVectorBytes == 64 ? 8 : 6;
constexpr int kVectors = 2;
constexpr std::int64_t kDepth = 128;
template <class T>
constexpr std::int64_t kColumns = kVectors* kLanes<T>;

template <class T>
using PanelStorage = std::array<T, static_cast<std::size_t>(kDepth* kColumns<T>)>;

/// Rows [p, p + depth), columns [j, j + columns) of op(b), as rows of kColumns elements.
template <class T>
struct Panel {
  std::int64_t p;
  std::int64_t depth;
  std::int64_t j;
  std::int64_t columns;
  const T* rows = nullptr;
  std::int64_t step = kColumns<T>;  ///< from one row to the next
};

/// Copies a panel; missing columns become 0.
template <class T>
void pack(const Product<T>& x, const Panel<T>& panel, PanelStorage<T>& to) {
  if (panel.columns < kColumns<T>) std::fill_n(to.data(), panel.depth * kColumns<T>, T{0});
  if (x.transpose_b) {
    return transpose(x.b + panel.p + panel.j * x.ldb, x.ldb, panel.columns, panel.depth, to.data(),
                     kColumns<T>);
  }
  const T* from = x.b + panel.p * x.ldb + panel.j;
  for (std::int64_t r = 0; r < panel.depth; ++r) {
    std::copy_n(from + r * x.ldb, panel.columns, to.data() + r * kColumns<T>);
  }
}

/// Rows [i, i + R) of c over the first V vectors of a panel.
template <int R, int V, class T>
void tile(const Product<T>& x, std::int64_t i, const Panel<T>& panel) {
  const std::int64_t row_step = x.transpose_a ? 1 : x.lda;
  const std::int64_t depth_step = x.transpose_a ? x.lda : 1;
  const T* a = x.a + i * row_step + panel.p * depth_step;
  std::array<Block<T, V>, R> sum;
  for (auto& s : sum) s.clear();
  for (std::int64_t r = 0; r < panel.depth; ++r) {
    Block<T, V> b;
    b.load(panel.rows + r * panel.step);
    for (int row = 0; row < R; ++row) sum[row].add_scaled(a[row * row_step + r * depth_step], b);
  }
  const T beta = panel.p == 0 ? x.beta : T{1};
  for (int row = 0; row < R; ++row) {
    T* c = x.c + (i + row) * x.ldc + panel.j;
    sum[row].scale(x.alpha);
    if (panel.columns >= V * kLanes<T>) {
      Block<T, V> before;
      if (beta != T{0}) before.load(c);
      if (beta != T{0}) sum[row].add_scaled(beta, before);
      sum[row].store(c);
      continue;
    }
    std::array<T, V * kLanes<T>> values;
    sum[row].store(values.data());
    for (std::int64_t col = 0; col < panel.columns; ++col) {
      const T value = values[static_cast<std::size_t>(col)];
      c[col] = beta == T{0} ? value : value + beta * c[col];
    }
  }
}

/// c = beta c, for an empty sum.
template <class T>
void scale_result(const Product<T>& x) {
  for (std::int64_t i = 0; i < x.m; ++i) {
    T* c = x.c + i * x.ldc;
    for (std::int64_t j = 0; j < x.n; ++j) c[j] = x.beta == T{0} ? T{0} : x.beta * c[j];
  }
}

/// The tile of 1 .. kRows rows that fits.
template <int V, class T, int... R>
void tile_of(std::int64_t rows, std::integer_sequence<int, R...>, const auto&... args) {
  ((rows == R + 1 ? tile<R + 1, V, T>(args...) : void()), ...);
}

template <int V, class T>
void tiles_of(const Product<T>& x, const Panel<T>& panel) {
  for (std::int64_t i = 0; i < x.m; i += kRows) {
    tile_of<V, T>(std::min<std::int64_t>(kRows, x.m - i), std::make_integer_sequence<int, kRows>(),
                  x, i, panel);
  }
}

template <class T>
void multiply_blocks(const Product<T>& x) {
  PanelStorage<T> storage;
  const bool few_rows = x.m <= 2 * kRows;  // do not pay for packing
  for (std::int64_t j = 0; j < x.n; j += kColumns<T>) {
    for (std::int64_t p = 0; p < x.k; p += kDepth) {
      Panel<T> panel{p, std::min(kDepth, x.k - p), j, std::min(kColumns<T>, x.n - j)};
      if (few_rows && !x.transpose_b && panel.columns == kColumns<T>) {
        panel.rows = x.b + p * x.ldb + j;
        panel.step = x.ldb;
      } else {
        pack(x, panel, storage);
        panel.rows = storage.data();
      }
      panel.columns > kLanes<T> ? tiles_of<kVectors>(x, panel) : tiles_of<1>(x, panel);
    }
  }
}

/// A result of a few columns: rows of a times the columns of op(b), which lie in memory as rows.
template <class T>
[[gnu::flatten]] void multiply_dots(const Product<T> x) {
  const std::int64_t column_step = x.transpose_b ? x.ldb : x.k;
  for (std::int64_t i = 0; i < x.m; ++i) {
    T* c = x.c + i * x.ldc;
    for (std::int64_t j = 0; j < x.n; ++j) {
      const T value = x.alpha * dot(x.a + i * x.lda, x.b + j * column_step, x.k);
      c[j] = x.beta == T{0} ? value : value + x.beta * c[j];
    }
  }
}

template <class T>
void multiply_any(const Product<T>& x) {
  constexpr std::int64_t kFewColumns = 4;
  const bool columns_are_rows = x.transpose_b || (x.n == 1 && x.ldb == 1);
  if (x.k == 0) return scale_result(x);
  if (x.n <= kFewColumns && !x.transpose_a && columns_are_rows) return multiply_dots(x);
  multiply_blocks(x);
}

}  // namespace

void multiply_portable(const Product<float>& product) { multiply_any(product); }
void multiply_portable(const Product<double>& product) { multiply_any(product); }

}  // namespace moiety::kernels::cpu

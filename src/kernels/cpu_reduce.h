// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "kernels/cpu_loops.h"
#include "kernels/lanes.h"
#include "tensor/device.h"
#include "tensor/storage.h"

// Sums along rows and down columns. Partial sums in T are short and are added in double; the order
// depends on the sizes alone. Terms are inlined (flatten), or they would pass through memory.
namespace moiety::kernels::cpu {

/// Sum of n terms: term(c, block) returns the block of terms from number c.
template <class T, class Term>
[[gnu::flatten]] double sum_terms(std::int64_t n, const Term& term) {
  constexpr std::int64_t kWidth = 4 * kLanes<T>;
  constexpr std::int64_t kRun = 16 * kWidth;  // 16 terms a lane
  double total = 0;
  std::int64_t c = 0;
  while (c + kWidth <= n) {
    Block<T, 4> acc = term(c, Block<T, 4>{});
    const std::int64_t end = std::min(c + kRun, n);
    for (c += kWidth; c + kWidth <= end; c += kWidth) acc.add(term(c, Block<T, 4>{}));
    total += static_cast<double>(acc.sum());
  }
  for_column_blocks<T>(c, n, [&](std::int64_t column, const auto& block) {
    total += static_cast<double>(term(column, block).sum());
  });
  return total;
}

/// Largest of n elements, in as many running maxima as fill the vector units; minus infinity for
/// none. A NaN may or may not be passed over.
template <class T>
T row_max(const T* x, std::int64_t n) {
  constexpr std::int64_t kWidth = 4 * kLanes<T>;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  T largest = kLowest;
  std::int64_t i = 0;
  if (n >= kWidth) {
    std::array<T, kWidth> top;
    std::copy_n(x, kWidth, top.begin());
    for (i = kWidth; i + kWidth <= n; i += kWidth) {
      for (std::int64_t k = 0; k < kWidth; ++k) top[k] = x[i + k] > top[k] ? x[i + k] : top[k];
    }
    for (std::int64_t half = kWidth / 2; half > 0; half /= 2) {
      for (std::int64_t k = 0; k < half; ++k) {
        top[k] = top[k + half] > top[k] ? top[k + half] : top[k];
      }
    }
    largest = top[0];
  }
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// Sum of n consecutive elements.
template <class T>
double sum_row(const T* x, std::int64_t n) {
  return sum_terms<T>(n, [x](std::int64_t c, auto block) {
    block.load(x + c);
    return block;
  });
}

/// Adds the sum of each column over `rows` rows to sums [width]: term(row, c, block) returns the
/// terms of a row from column c. A few rows at a time, so that memory is read in order.
template <class T, class Term>
[[gnu::flatten]] void sum_columns(std::int64_t rows, std::int64_t width, const Term& term,
                                  double* sums) {
  constexpr std::int64_t kRun = 16;
  for (std::int64_t begin = 0; begin < rows; begin += kRun) {
    const std::int64_t end = std::min(rows, begin + kRun);
    for_column_blocks<T>(0, width, [&](std::int64_t c, const auto& block) {
      auto acc = block;
      acc.clear();
      for (std::int64_t r = begin; r < end; ++r) acc.add(term(r, c, block));
      acc.add_to(sums + c);
    });
  }
}

/// Rows of a chunk when `rows` rows of `width` elements are reduced to one in parallel: enough work
/// to pay for a task and its partial sums, and at most 64 chunks to combine.
inline std::int64_t chunk_rows(std::int64_t rows, std::int64_t width) {
  return std::max<std::int64_t>({16, row_grain(width), (rows + 63) / 64});
}

/// Runs reduce(begin, end, partial) on chunks of rows in parallel, where `partial` has `width`
/// doubles, zero at first, and calls store(k, sum over the chunks of partial[k]).
template <class Reduce, class Store>
void reduce_rows(const Stream& stream, std::int64_t rows, std::int64_t row_work, std::int64_t width,
                 const Reduce& reduce, const Store& store) {
  const std::int64_t chunk = chunk_rows(rows, row_work);
  const std::int64_t chunks = std::max<std::int64_t>(1, (rows + chunk - 1) / chunk);
  const Storage storage(stream.device(), static_cast<std::size_t>(chunks * width) * sizeof(double));
  auto* partial = reinterpret_cast<double*>(storage.data());
  std::fill_n(partial, chunks * width, 0.0);
  parallel_for(stream, rows, chunk, [&](std::int64_t begin, std::int64_t end) {
    reduce(begin, end, partial + begin / chunk * width);
  });
  for (std::int64_t c = 1; c < chunks; ++c) {
    for (std::int64_t k = 0; k < width; ++k) partial[k] += partial[c * width + k];
  }
  for (std::int64_t k = 0; k < width; ++k) store(k, partial[k]);
}

}  // namespace moiety::kernels::cpu

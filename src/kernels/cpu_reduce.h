// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu_loops.h"
#include "kernels/lanes.h"
#include "tensor/storage.h"

// Sums of contiguous rows and of columns, and the fixed split of long ones into chunks.
namespace moiety::kernels::cpu {

/// Sum over i < n of f(i-th elements): blocks of partial sums in T, added in double. `at(c, block)`
/// returns the block of terms from element c.
template <class T, class At>
double sum_terms(std::int64_t n, const At& at) {
  constexpr std::int64_t kWidth = 4 * kLanes<T>;
  constexpr std::int64_t kRun = 32 * kWidth;  // terms of a partial sum in T: 32 a lane
  double total = 0;
  std::int64_t c = 0;
  while (c + kWidth <= n) {
    Block<T, 4> acc = at(c, Block<T, 4>{});
    const std::int64_t end = std::min(c + kRun, n);
    for (c += kWidth; c + kWidth <= end; c += kWidth) acc.add(at(c, Block<T, 4>{}));
    total += static_cast<double>(acc.sum());
  }
  for_column_blocks<T>(c, n, [&](std::int64_t at_column, const auto& block) {
    total += static_cast<double>(at(at_column, block).sum());
  });
  return total;
}

template <class T>
double sum_row(const T* x, std::int64_t n) {
  return sum_terms<T>(n, [x](std::int64_t c, auto block) {
    block.load(x + c);
    return block;
  });
}

/// Rows of a chunk when `rows` rows of `width` elements are reduced to one in parallel: enough work
/// to pay for a task, and at most 64 chunks to combine.
inline std::int64_t chunk_rows(std::int64_t rows, std::int64_t width) {
  return std::max<std::int64_t>({1, row_grain(width), (rows + 63) / 64});
}

}  // namespace moiety::kernels::cpu

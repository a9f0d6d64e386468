// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/product.h"
#include "tensor/stream.h"
#include "tensor/thread_state.h"

// How a product is cut into tasks: by its size alone, so that its bits do not depend on threads.
namespace moiety::kernels::cpu {

/// Work of one task. Smaller ones would spend a good part of their time on packing operands.
inline constexpr double kTaskFlops = 4e6;

inline double flops_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

/// How many of `extent` rows (or columns, or steps of k), each of which costs `flops`, a task
/// takes: at least `least`, in equal shares, and whole cache lines.
inline std::int64_t extent_of_task(std::int64_t extent, double flops, std::int64_t least) {
  constexpr std::int64_t kLine = 16;
  const auto wanted = static_cast<std::int64_t>(kTaskFlops / std::max(flops, 1.0)) + 1;
  const std::int64_t tasks = std::max<std::int64_t>(1, extent / std::max(wanted, least));
  const std::int64_t share = (extent + tasks - 1) / tasks;
  return (share + kLine - 1) / kLine * kLine;
}

/// A rectangle of the output.
struct Tile {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
};

/// Calls body(tile) in parallel for tiles that cover [m, n], cut along the longer side; for one
/// tile inside a task, where cutting would only pack operands more often.
template <class Body>
void for_each_tile(const Stream& stream, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Body& body) {
  if (thread_state().in_parallel || flops_of(m, n, k) < 2 * kTaskFlops) {
    return body(Tile{0, m, 0, n});
  }
  // Every task packs the other operand anew: with 128 rows that is a tenth of its time, with 256 a
  // twentieth.
  const std::int64_t least = std::clamp<std::int64_t>(std::max(m, n) / 3, 128, 256);
  if (m >= n) {
    parallel_for(stream, m, extent_of_task(m, flops_of(1, n, k), least),
                 [&](std::int64_t begin, std::int64_t end) {
                   body(Tile{begin, end - begin, 0, n});
                 });
  } else {
    parallel_for(stream, n, extent_of_task(n, flops_of(m, 1, k), least),
                 [&](std::int64_t begin, std::int64_t end) {
                   body(Tile{0, m, begin, end - begin});
                 });
  }
}

/// The part of a product that makes one tile of c.
template <class T, class Out>
Product<T, Out> restrict_to(Product<T, Out> p, const Tile& tile) {
  p.a += tile.row * (p.transpose_a ? 1 : p.lda);
  p.b += tile.column * (p.transpose_b ? p.ldb : 1);
  p.c += tile.row * p.ldc + tile.column;
  p.m = tile.rows;
  p.n = tile.columns;
  return p;
}

}  // namespace moiety::kernels::cpu

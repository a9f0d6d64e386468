// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/view.h"

// How many of the first rows of a tensor count, where that is a number in memory: `rows`, i32 [1],
// or undefined when all of them do. A batch padded to a fixed size has rows behind that do not.
namespace moiety::kernels {

/// Throws for what is neither i32 [1] nor undefined.
inline void check_row_count(const TensorView& rows) {
  if (!rows.defined()) return;
  check<ShapeError>(rows.shape == Shape({1}), "the number of rows must be i32 [1], not ",
                    rows.shape);
  check<DTypeError>(rows.dtype == DType::i32, "the number of rows must be i32 [1], not ",
                    rows.dtype);
}

namespace cpu {

/// How many of `count` rows count: a number outside of [0, count] is held to it.
inline std::int64_t counted_rows(const TensorView& rows, std::int64_t count) {
  check_row_count(rows);
  return rows.defined() ? std::clamp<std::int64_t>(*rows.as<std::int32_t>(), 0, count) : count;
}

/// Those rows of x [N, ...].
inline TensorView first_rows(const TensorView& x, const TensorView& rows) {
  TensorView first = x;
  first.shape[0] = counted_rows(rows, x.shape[0]);
  return first;
}

}  // namespace cpu
}  // namespace moiety::kernels

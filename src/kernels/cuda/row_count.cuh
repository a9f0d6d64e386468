// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/simt.cuh"
#include "kernels/row_count.h"

// For .cu files alone.
namespace moiety::kernels::cuda {

/// How many of the first rows count; the GPU knows.
struct RowCount {
  const std::int32_t* number = nullptr;  ///< nullptr: all do

  __device__ std::int64_t of(std::int64_t rows) const {
    if (number == nullptr) return rows;
    const std::int64_t n = *number;
    return n < 0 ? 0 : n < rows ? n : rows;
  }
};

inline RowCount row_count(const TensorView& rows) {
  check_row_count(rows);
  return {rows.defined() ? rows.as<std::int32_t>() : nullptr};
}

}  // namespace moiety::kernels::cuda

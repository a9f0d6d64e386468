// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

// Reductions over consecutive rows: ptr [M+1] i32 ascending, segment m is rows ptr[m] .. ptr[m+1].
namespace moiety::ops {

/// x [N, C] -> [M, C]; an empty segment gives 0.
Variable segment_sum(const Variable& x, const Tensor& ptr);
Variable segment_mean(const Variable& x, const Tensor& ptr);
/// Largest of each column; the gradient goes to the first of equal elements.
Variable segment_max(const Variable& x, const Tensor& ptr);
/// Softmax over the rows of each segment, for each column: x [N, C] -> [N, C].
Variable segment_softmax(const Variable& x, const Tensor& ptr);
/// The adjoint of segment_sum: y [M, C] -> [rows, C], row n a copy of its segment's row. `rows` is
/// the last entry of ptr, which may lie on a GPU.
Variable segment_broadcast(const Variable& y, const Tensor& ptr, std::int64_t rows);

}  // namespace moiety::ops

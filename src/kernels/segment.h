// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tensor/stream.h"
#include "tensor/view.h"

// Reductions over consecutive rows: ptr [M+1] i32, segment m is rows ptr[m] .. ptr[m+1] of N. Views
// are contiguous. Kernels trust ptr: see check_ptr in index_check.h.
namespace moiety::kernels {

enum class SegmentScale : std::uint8_t {
  none,
  by_size,  ///< divided by the number of rows of the segment
};

/// out[m] = sum of x over segment m, scaled; 0 for an empty one. x [N, C], out [M, C].
void segment_sum(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 SegmentScale scale, const TensorView& out);

/// Its adjoint: out[n] = y[segment of n], scaled. y [M, C], out [N, C].
void segment_broadcast(const Stream& stream, const TensorView& y, const TensorView& ptr,
                       SegmentScale scale, const TensorView& out);

/// out[m, c] = largest of x over segment m, and its row in `row` (the first of equal ones). An
/// empty segment gives 0 and row -1; NaN counts as largest. x [N, C], out [M, C], row [M, C] i32.
void segment_max(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 const TensorView& out, const TensorView& row);

/// out[m, c] = x[row[m, c], c], 0 where row is -1. x [N, C], row [M, C] i32, out [M, C].
void segment_pick(const Stream& stream, const TensorView& x, const TensorView& row,
                  const TensorView& out);

/// Its adjoint: out[row[m, c], c] = y[m, c] and 0 elsewhere; segment m writes only its own rows.
/// y [M, C], row [M, C] i32, ptr [M+1], out [N, C].
void segment_place(const Stream& stream, const TensorView& y, const TensorView& row,
                   const TensorView& ptr, const TensorView& out);

/// Softmax over the rows of each segment, for each column. x, out [N, C].
void segment_softmax(const Stream& stream, const TensorView& x, const TensorView& ptr,
                     const TensorView& out);

/// dx = y (grad - sum over the segment of y grad), y the softmax. y, grad, dx [N, C].
void segment_softmax_backward(const Stream& stream, const TensorView& y, const TensorView& grad,
                              const TensorView& ptr, const TensorView& dx);

// The bodies, one a device.
namespace cpu {
decltype(kernels::segment_sum) segment_sum;
decltype(kernels::segment_broadcast) segment_broadcast;
decltype(kernels::segment_max) segment_max;
decltype(kernels::segment_pick) segment_pick;
decltype(kernels::segment_place) segment_place;
decltype(kernels::segment_softmax) segment_softmax;
decltype(kernels::segment_softmax_backward) segment_softmax_backward;
}  // namespace cpu
namespace cuda {
decltype(kernels::segment_sum) segment_sum;
decltype(kernels::segment_broadcast) segment_broadcast;
decltype(kernels::segment_max) segment_max;
decltype(kernels::segment_pick) segment_pick;
decltype(kernels::segment_place) segment_place;
decltype(kernels::segment_softmax) segment_softmax;
decltype(kernels::segment_softmax_backward) segment_softmax_backward;
}  // namespace cuda

}  // namespace moiety::kernels

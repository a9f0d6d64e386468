// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Reductions over the middle dimension of contiguous views [A, N, B], and over rows [N, C]. f32 and
// f64, on a GPU bf16 and f16 as well. The order of summation depends on the shape alone.
namespace moiety::kernels {

/// out[a, b] = scale * sum over n of x[a, n, b]: x [A, N, B] -> out [A, B]. A = B = 1 sums all
/// elements, A = 1 sums columns. f32 is summed in short blocks whose sums are added in f64.
void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out);

/// Largest over n and the first place that has it: x [A, N, B] -> out [A, B], index [A, B] i32.
/// NaN counts as largest. N > 0.
void max(const Stream& stream, const TensorView& x, const TensorView& out, const TensorView& index);

/// out[a, b] = x[a, index[a, b], b]: x [A, N, B], index [A, B] i32 -> out [A, B].
void select(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out);

/// The adjoint of select: out[a, n, b] = x[a, b] where n = index[a, b], else 0.
void place(const Stream& stream, const TensorView& x, const TensorView& index,
           const TensorView& out);

/// log(sum over n of exp(x[a, n, b])): x [A, N, B] -> out [A, B]. N = 0 gives -infinity.
void log_sum_exp(const Stream& stream, const TensorView& x, const TensorView& out);

/// Softmax of each row: x [N, C] -> y [N, C].
void softmax(const Stream& stream, const TensorView& x, const TensorView& y);
/// dx = y * (grad - sum over the row of y * grad). All [N, C].
void softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                  const TensorView& dx);

/// Logarithm of the softmax of each row: x [N, C] -> y [N, C].
void log_softmax(const Stream& stream, const TensorView& x, const TensorView& y);
/// dx = grad - exp(y) * sum over the row of grad. All [N, C].
void log_softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                      const TensorView& dx);

// The bodies, one a device.
namespace cpu {
decltype(kernels::sum) sum;
decltype(kernels::max) max;
decltype(kernels::select) select;
decltype(kernels::place) place;
decltype(kernels::log_sum_exp) log_sum_exp;
decltype(kernels::softmax) softmax;
decltype(kernels::softmax_grad) softmax_grad;
decltype(kernels::log_softmax) log_softmax;
decltype(kernels::log_softmax_grad) log_softmax_grad;
}  // namespace cpu
namespace cuda {
decltype(kernels::sum) sum;
decltype(kernels::max) max;
decltype(kernels::select) select;
decltype(kernels::place) place;
decltype(kernels::log_sum_exp) log_sum_exp;
decltype(kernels::softmax) softmax;
decltype(kernels::softmax_grad) softmax_grad;
decltype(kernels::log_softmax) log_softmax;
decltype(kernels::log_softmax_grad) log_softmax_grad;
}  // namespace cuda

}  // namespace moiety::kernels

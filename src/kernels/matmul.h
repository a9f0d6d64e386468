// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu_halves.h"
#include "tensor/stream.h"
#include "tensor/view.h"

// Dense products. Views are contiguous and row-major; the same bits on any number of threads.
namespace moiety::kernels {

/// c = alpha op(a) op(b) + beta c, where op(a) [M, K], op(b) [K, N], c [M, N]; a transposed operand
/// is stored as [K, M] or [N, K]. With three dimensions, a product for each index of the first. c
/// is not read when beta is 0; it may be f32 where a and b are bf16 or f16. Throws ShapeError when
/// the shapes do not fit, DTypeError when the dtypes do not.
void gemm(const Stream& stream, bool transpose_a, bool transpose_b, double alpha,
          const TensorView& a, const TensorView& b, double beta, const TensorView& c);

/// Whether a product of matrices of a dtype can be added up in another.
inline bool is_result(DType result, DType factors) {
  return result == factors || (is_half(factors) && result == DType::f32);
}

/// out = x weight^T + bias, then max(., 0) when relu. x [N, In], weight [Out, In], bias [Out] or
/// undefined, out [N, Out].
void linear(const Stream& stream, const TensorView& x, const TensorView& weight,
            const TensorView& bias, bool relu, const TensorView& out);

/// What follows the product, backwards: masked = grad where out > 0 (skipped when undefined: no
/// relu), dbias = sum of its rows (skipped when undefined). grad, out, masked [N, C], dbias [C].
void linear_epilogue_backward(const Stream& stream, const TensorView& grad, const TensorView& out,
                              const TensorView& masked, const TensorView& dbias);

// The bodies, one a device.
namespace cpu {
decltype(kernels::gemm) gemm;
decltype(kernels::linear) linear;
decltype(kernels::linear_epilogue_backward) linear_epilogue_backward;
}  // namespace cpu
namespace cuda {
decltype(kernels::gemm) gemm;
decltype(kernels::linear) linear;
decltype(kernels::linear_epilogue_backward) linear_epilogue_backward;
}  // namespace cuda

}  // namespace moiety::kernels

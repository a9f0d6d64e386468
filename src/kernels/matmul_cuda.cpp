// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "kernels/cuda/gemm_plan.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"

namespace moiety::kernels::cuda {
namespace {

/// The largest power of two, up to 16, that divides all addresses.
std::uint32_t common_alignment(std::initializer_list<const void*> addresses) {
  std::uintptr_t bits = 16;
  for (const void* address : addresses) bits |= reinterpret_cast<std::uintptr_t>(address);
  return std::uint32_t{1} << std::countr_zero(bits);
}

void run(const Stream& stream, GemmProblem problem, const GemmOperands& operands) {
  problem.alignment = common_alignment({operands.a, operands.b, operands.c, operands.bias});
  GemmPlans::of(static_cast<CudaDevice&>(stream.device())).run(stream, problem, operands);
}

}  // namespace

void gemm(const Stream& stream, bool transpose_a, bool transpose_b, double alpha,
          const TensorView& a, const TensorView& b, double beta, const TensorView& c) {
  const int ndim = c.ndim();
  check<ShapeError>((ndim == 2 || ndim == 3) && a.ndim() == ndim && b.ndim() == ndim,
                    "gemm takes matrices or stacks of them, not ", a.shape, ", ", b.shape, " and ",
                    c.shape);
  const int first = ndim - 2;
  const std::int64_t batch = ndim == 3 ? c.shape[0] : 1;
  const std::int64_t m = c.shape[first], n = c.shape[first + 1];
  const std::int64_t k = a.shape[first + (transpose_a ? 0 : 1)];
  check<ShapeError>(a.shape[first + (transpose_a ? 1 : 0)] == m &&
                        b.shape[first + (transpose_b ? 1 : 0)] == k &&
                        b.shape[first + (transpose_b ? 0 : 1)] == n &&
                        (ndim == 2 || (a.shape[0] == batch && b.shape[0] == batch)),
                    "gemm: ", a.shape, transpose_a ? " transposed" : "", " times ", b.shape,
                    transpose_b ? " transposed" : "", " does not give ", c.shape);
  if (batch == 0 || m == 0 || n == 0) return;
  if (k == 0) {  // an empty sum
    return beta == 0 ? kernels::fill(stream, c, 0) : kernels::affine(stream, beta, 0, c, c);
  }
  run(stream,
      {.dtype = a.dtype,
       .result = c.dtype,
       .transpose_a = transpose_a,
       .transpose_b = transpose_b,
       .m = m,
       .n = n,
       .k = k,
       .batch = batch,
       .tf32 = stream.device().fast_products()},
      {.a = a.data, .b = b.data, .c = c.data, .alpha = alpha, .beta = beta});
}

void linear(const Stream& stream, const TensorView& x, const TensorView& weight,
            const TensorView& bias, bool relu, const TensorView& out) {
  check<ShapeError>(x.shape[1] == weight.shape[1] && out.shape[0] == x.shape[0] &&
                        out.shape[1] == weight.shape[0],
                    "linear: ", x.shape, " by ", weight.shape, " does not give ", out.shape);
  if (out.numel() == 0) return;
  const bool has_bias = bias.defined();
  // cuBLASLt adds biases and takes maxima of f32 and halves alone, and multiplies no empty rows.
  if (out.dtype == DType::f64 || x.shape[1] == 0) {
    gemm(stream, false, true, 1.0, x, weight, 0.0, out);
    if (has_bias) kernels::binary(stream, BinaryOp::add, out, bias, out);
    if (relu) kernels::unary(stream, UnaryOp::relu, out, out);
    return;
  }
  run(stream,
      {.dtype = out.dtype,
       .result = out.dtype,
       .transpose_b = true,
       .m = out.shape[0],
       .n = out.shape[1],
       .k = x.shape[1],
       .bias = has_bias,
       .relu = relu,
       .tf32 = stream.device().fast_products()},
      {.a = x.data, .b = weight.data, .c = out.data, .bias = has_bias ? bias.data : nullptr});
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

namespace moiety::kernels {

void gemm(const Stream& stream, bool transpose_a, bool transpose_b, double alpha,
          const TensorView& a, const TensorView& b, double beta, const TensorView& c) {
  check<DTypeError>(a.dtype == b.dtype && is_result(c.dtype, a.dtype), "gemm: ", name_of(a.dtype),
                    " times ", name_of(b.dtype), " into ", name_of(c.dtype));
  run_on<cpu::gemm, cuda::gemm>(stream, transpose_a, transpose_b, alpha, a, b, beta, c);
}

void linear(const Stream& stream, const TensorView& x, const TensorView& weight,
            const TensorView& bias, bool relu, const TensorView& out) {
  run_on<cpu::linear, cuda::linear>(stream, x, weight, bias, relu, out);
}

void linear_epilogue_backward(const Stream& stream, const TensorView& grad, const TensorView& out,
                              const TensorView& masked, const TensorView& dbias) {
  run_on<cpu::linear_epilogue_backward, cuda::linear_epilogue_backward>(stream, grad, out, masked,
                                                                        dbias);
}

}  // namespace moiety::kernels

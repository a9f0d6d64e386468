// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.h"

namespace moiety::kernels {

void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd, const NormTail& tail) {
  run_on<cpu::layer_norm, cuda::layer_norm>(stream, eps, x, weight, bias, out, mean, rstd, tail);
}

void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out, const TensorView& relu_bias) {
  run_on<cpu::layer_norm_grad, cuda::layer_norm_grad>(stream, grad, x, weight, mean, rstd, out,
                                                      relu_bias);
}

void rms_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
              const TensorView& out, const TensorView& rstd) {
  run_on<cpu::rms_norm, cuda::rms_norm>(stream, eps, x, weight, out, rstd);
}

void rms_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                   const TensorView& weight, const TensorView& rstd, const TensorView& dx,
                   const TensorView& dweight) {
  run_on<cpu::rms_norm_grad, cuda::rms_norm_grad>(stream, grad, x, weight, rstd, dx, dweight);
}

void column_statistics(const Stream& stream, const TensorView& x, const TensorView& mean,
                       const TensorView& var, const TensorView& rows) {
  run_on<cpu::column_statistics, cuda::column_statistics>(stream, x, mean, var, rows);
}

void update_running_statistics(const Stream& stream, double momentum, std::int64_t count,
                               const TensorView& mean, const TensorView& var,
                               const TensorView& running_mean, const TensorView& running_var,
                               const TensorView& rows) {
  run_on<cpu::update_running_statistics, cuda::update_running_statistics>(
      stream, momentum, count, mean, var, running_mean, running_var, rows);
}

void batch_norm(const Stream& stream, const ColumnNorm& norm, const TensorView& x,
                const TensorView& bias, const TensorView& out, const NormTail& tail) {
  run_on<cpu::batch_norm, cuda::batch_norm>(stream, norm, x, bias, out, tail);
}

void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& x, const NormGrads& out,
                     const TensorView& rows, const TensorView& relu_bias) {
  run_on<cpu::batch_norm_grad, cuda::batch_norm_grad>(stream, norm, statistics_of_x, grad, x, out,
                                                      rows, relu_bias);
}

void row_weights(const Stream& stream, const TensorView& rows, const TensorView& out) {
  run_on<cpu::row_weights, cuda::row_weights>(stream, rows, out);
}

}  // namespace moiety::kernels

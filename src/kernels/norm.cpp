// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.h"

#include "kernels/staged.h"

namespace moiety::kernels {

// Floating operands, for run_staged.
inline std::array<TensorView*, 1> views_of(NormTail& x) { return {&x.residual}; }
inline std::array<TensorView*, 3> views_of(NormGrads& x) { return {&x.x, &x.weight, &x.bias}; }
inline std::array<TensorView*, 3> views_of(ColumnNorm& x) { return {&x.mean, &x.var, &x.weight}; }

void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd, const NormTail& tail) {
  run_staged<cpu::layer_norm, cuda::layer_norm>(stream, eps, reads(x), reads(weight), reads(bias),
                                                writes(out), mean, rstd, reads(tail));
}

void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out, const TensorView& relu_bias) {
  run_staged<cpu::layer_norm_grad, cuda::layer_norm_grad>(
      stream, reads(grad), reads(x), reads(weight), mean, rstd, writes(out), reads(relu_bias));
}

void rms_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
              const TensorView& out, const TensorView& rstd) {
  run_staged<cpu::rms_norm, cuda::rms_norm>(stream, eps, reads(x), reads(weight), writes(out),
                                            rstd);
}

void rms_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                   const TensorView& weight, const TensorView& rstd, const TensorView& dx,
                   const TensorView& dweight) {
  run_staged<cpu::rms_norm_grad, cuda::rms_norm_grad>(stream, reads(grad), reads(x), reads(weight),
                                                      rstd, writes(dx), writes(dweight));
}

void column_statistics(const Stream& stream, const TensorView& x, const TensorView& mean,
                       const TensorView& var, const TensorView& rows) {
  run_staged<cpu::column_statistics, cuda::column_statistics>(stream, reads(x), mean, var, rows);
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
  run_staged<cpu::batch_norm, cuda::batch_norm>(stream, reads(norm), reads(x), reads(bias),
                                                writes(out), reads(tail));
}

void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& x, const NormGrads& out,
                     const TensorView& rows, const TensorView& relu_bias) {
  run_staged<cpu::batch_norm_grad, cuda::batch_norm_grad>(stream, reads(norm), statistics_of_x,
                                                          reads(grad), reads(x), writes(out), rows,
                                                          reads(relu_bias));
}

void row_weights(const Stream& stream, const TensorView& rows, const TensorView& out) {
  run_staged<cpu::row_weights, cuda::row_weights>(stream, rows, writes(out));
}

}  // namespace moiety::kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Normalisation of contiguous x [N, C], by rows (layer norm, RMS norm) or by columns (batch norm).
// Views are of one dtype, f32 or f64, on a GPU bf16 or f16 as well; means, variances and their like
// are of statistics_dtype. Variances are computed from differences to the mean. An optional `rows`,
// i32 [1] on the device, says how many of the first rows count, held to [0, N]; undefined: all of
// them.
namespace moiety::kernels {

/// What statistics of x are computed and kept in: f32 for bf16 and f16, else x's own dtype.
inline DType statistics_dtype(DType x) {
  return x == DType::bf16 || x == DType::f16 ? DType::f32 : x;
}

/// What follows a norm in the same pass: out = residual + relu(norm(x)), without what is absent.
struct NormTail {
  bool relu = false;
  TensorView residual;  ///< [N, C], or undefined
};

/// norm(x) = (x - mean) * rstd * weight + bias with the mean and 1 / sqrt(variance + eps) of each
/// row, which are kept: x [N, C], weight and bias [C] -> out [N, C], mean and rstd [N].
void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd, const NormTail& tail = {});

struct NormGrads {
  TensorView x;       ///< [N, C]
  TensorView weight;  ///< [C]
  TensorView bias;    ///< [C]
};
/// Gradients of layer_norm. Where a ReLU follows it, `relu_bias` is the norm's bias, from which the
/// ReLU's input is computed again; undefined otherwise. A residual's gradient is `grad` itself.
void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out, const TensorView& relu_bias = {});

/// out = x * rstd * weight with rstd = 1 / sqrt(mean of squares + eps) of each row, which is kept:
/// x [N, C], weight [C] -> out [N, C], rstd [N].
void rms_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
              const TensorView& out, const TensorView& rstd);

/// Its gradients: dx [N, C], dweight [C].
void rms_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                   const TensorView& weight, const TensorView& rstd, const TensorView& dx,
                   const TensorView& dweight);

/// Mean and biased variance of each column over the rows that count: x [N, C] -> mean, var [C].
void column_statistics(const Stream& stream, const TensorView& x, const TensorView& mean,
                       const TensorView& var, const TensorView& rows = {});

/// running <- (1 - momentum) running + momentum * value, with the variance made unbiased for those
/// of the `count` rows that count; all [C]. Channels that are not finite are left out: the
/// optimizer skips such a step, and one of them would spoil all evaluations to come. So are all
/// where fewer than two rows count.
void update_running_statistics(const Stream& stream, double momentum, std::int64_t count,
                               const TensorView& mean, const TensorView& var,
                               const TensorView& running_mean, const TensorView& running_var,
                               const TensorView& rows = {});

/// What a batch norm normalises by, [C] each.
struct ColumnNorm {
  TensorView mean;
  TensorView var;
  TensorView weight;
  double eps;
};

/// norm(x) = (x - mean) / sqrt(var + eps) * weight + bias: x [N, C], bias [C] -> out [N, C].
void batch_norm(const Stream& stream, const ColumnNorm& norm, const TensorView& x,
                const TensorView& bias, const TensorView& out, const NormTail& tail = {});

/// Gradients of batch_norm; through the statistics as well when they are those of x. Rows that do
/// not count have none: their out.x is 0, and the others leave them out. relu_bias as above.
void batch_norm_grad(const Stream& stream, const ColumnNorm& norm, bool statistics_of_x,
                     const TensorView& grad, const TensorView& x, const NormGrads& out,
                     const TensorView& rows = {}, const TensorView& relu_bias = {});

/// 1 / n for the n rows that count, 0 for the rest: out [N, 1].
void row_weights(const Stream& stream, const TensorView& rows, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::layer_norm) layer_norm;
decltype(kernels::layer_norm_grad) layer_norm_grad;
decltype(kernels::rms_norm) rms_norm;
decltype(kernels::rms_norm_grad) rms_norm_grad;
decltype(kernels::column_statistics) column_statistics;
decltype(kernels::update_running_statistics) update_running_statistics;
decltype(kernels::batch_norm) batch_norm;
decltype(kernels::batch_norm_grad) batch_norm_grad;
decltype(kernels::row_weights) row_weights;
}  // namespace cpu
namespace cuda {
decltype(kernels::layer_norm) layer_norm;
decltype(kernels::layer_norm_grad) layer_norm_grad;
decltype(kernels::rms_norm) rms_norm;
decltype(kernels::rms_norm_grad) rms_norm_grad;
decltype(kernels::column_statistics) column_statistics;
decltype(kernels::update_running_statistics) update_running_statistics;
decltype(kernels::batch_norm) batch_norm;
decltype(kernels::batch_norm_grad) batch_norm_grad;
decltype(kernels::row_weights) row_weights;
}  // namespace cuda

}  // namespace moiety::kernels

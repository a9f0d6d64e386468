// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tensor/stream.h"
#include "tensor/view.h"

// Losses of prediction - target = d, or of a class. Elements whose target is NaN count nothing.
// prediction f32 or f64, on a GPU bf16 or f16 as well, target f32 or the prediction's dtype, of one
// shape, contiguous.
namespace moiety::kernels {

enum class Loss : std::uint8_t {
  mse,    ///< d^2
  mae,    ///< |d|
  huber,  ///< d^2 / 2 for |d| <= delta, else delta (|d| - delta / 2)
  bce,    ///< binary cross entropy of a logit z and a class t in [0, 1]: log(1 + e^z) - t z
};

struct RegressionLoss {
  Loss loss = Loss::mse;
  double scale = 1.0;
  double delta = 1.0;
};

/// out = scale * sum of the losses; out has one element.
void regression_loss(const Stream& stream, const RegressionLoss& loss, const TensorView& prediction,
                     const TensorView& target, const TensorView& out);

/// dprediction = grad * scale * derivative of the loss; grad has one element.
void regression_loss_grad(const Stream& stream, const RegressionLoss& loss,
                          const TensorView& prediction, const TensorView& target,
                          const TensorView& grad, const TensorView& dprediction);

/// Splits a target with missing values, in the outputs' dtype: filled is the target with 0 in place
/// of NaN, present is 1 where there is a value, else 0.
void split_missing(const Stream& stream, const TensorView& target, const TensorView& filled,
                   const TensorView& present);

// The bodies, one a device.
namespace cpu {
decltype(kernels::regression_loss) regression_loss;
decltype(kernels::regression_loss_grad) regression_loss_grad;
decltype(kernels::split_missing) split_missing;
}  // namespace cpu
namespace cuda {
decltype(kernels::regression_loss) regression_loss;
decltype(kernels::regression_loss_grad) regression_loss_grad;
decltype(kernels::split_missing) split_missing;
}  // namespace cuda

}  // namespace moiety::kernels

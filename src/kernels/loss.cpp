// SPDX-License-Identifier: Apache-2.0
#include "kernels/loss.h"

namespace moiety::kernels {

void regression_loss(const Stream& stream, const RegressionLoss& loss, const TensorView& prediction,
                     const TensorView& target, const TensorView& out) {
  run_on<cpu::regression_loss, cuda::regression_loss>(stream, loss, prediction, target, out);
}

void regression_loss_grad(const Stream& stream, const RegressionLoss& loss,
                          const TensorView& prediction, const TensorView& target,
                          const TensorView& grad, const TensorView& dprediction) {
  run_on<cpu::regression_loss_grad, cuda::regression_loss_grad>(stream, loss, prediction, target,
                                                                grad, dprediction);
}

void split_missing(const Stream& stream, const TensorView& target, const TensorView& filled,
                   const TensorView& present) {
  run_on<cpu::split_missing, cuda::split_missing>(stream, target, filled, present);
}

}  // namespace moiety::kernels

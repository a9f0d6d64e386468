// SPDX-License-Identifier: Apache-2.0
#include "kernels/loss.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void regression_loss(const Stream& stream, const RegressionLoss& loss, const TensorView& prediction,
                     const TensorView& target, const TensorView& out) {
  run_staged<cpu::regression_loss, cuda::regression_loss>(stream, loss, reads(prediction),
                                                          reads(target), writes(out));
}

void regression_loss_grad(const Stream& stream, const RegressionLoss& loss,
                          const TensorView& prediction, const TensorView& target,
                          const TensorView& grad, const TensorView& dprediction) {
  run_staged<cpu::regression_loss_grad, cuda::regression_loss_grad>(
      stream, loss, reads(prediction), reads(target), reads(grad), writes(dprediction));
}

void split_missing(const Stream& stream, const TensorView& target, const TensorView& filled,
                   const TensorView& present) {
  run_staged<cpu::split_missing, cuda::split_missing>(stream, reads(target), writes(filled),
                                                      writes(present));
}

}  // namespace moiety::kernels

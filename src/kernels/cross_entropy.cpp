// SPDX-License-Identifier: Apache-2.0
#include "kernels/cross_entropy.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void cross_entropy(const Stream& stream, const TensorView& scores, const TensorView& target,
                   const TensorView& loss, const TensorView& dscores) {
  check<ShapeError>(
      scores.ndim() == 2 && target.shape == Shape({scores.size(0)}) && loss.shape == target.shape,
      "cross_entropy: scores ", scores.shape, " and targets ", target.shape);
  check<ShapeError>(!dscores.defined() || dscores.shape == scores.shape,
                    "cross_entropy: gradients ", dscores.shape, " of scores ", scores.shape);
  MOIETY_CHECK(scores.contiguous() && target.contiguous() && loss.contiguous() &&
               (!dscores.defined() || dscores.contiguous()));
  run_staged<cpu::cross_entropy, cuda::cross_entropy>(stream, reads(scores), target, writes(loss),
                                                      writes(dscores));
}

}  // namespace moiety::kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Classification of rows of scores. Contiguous views; f32 and f64, on a GPU bf16 and f16 as well.
namespace moiety::kernels {

/// loss[n] = log(sum over c of exp(scores[n, c])) - scores[n, target[n]], 0 for a negative target,
/// which has no part in anything. scores [N, C], target [N] i32, loss [N] f32 (f64 for f64). Where
/// `dscores` [N, C] is defined it becomes softmax(scores) minus one at the target, or 0; it may be
/// `scores` itself. Throws Error for a target that is not below C.
void cross_entropy(const Stream& stream, const TensorView& scores, const TensorView& target,
                   const TensorView& loss, const TensorView& dscores);

// The bodies, one a device.
namespace cpu {
decltype(kernels::cross_entropy) cross_entropy;
}  // namespace cpu
namespace cuda {
decltype(kernels::cross_entropy) cross_entropy;
}  // namespace cuda

}  // namespace moiety::kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"
#include "kernels/loss.h"

namespace moiety::ops {

using kernels::Loss;

/// Sum over all elements of the loss of prediction - target, times `scale`; elements whose target
/// is NaN (missing) count nothing. Divide by the number of present targets through `scale`: parts
/// of a batch then add up to the mean over the batch. Huber: d^2 / 2 for |d| <= delta, else delta
/// (|d| - delta / 2); bce: binary cross entropy of logits and classes in [0, 1].
/// prediction [M, T], target [M, T] -> [].
Variable regression_loss(const Variable& prediction, const Tensor& target, Loss loss,
                         double scale = 1.0, double delta = 1.0);

}  // namespace moiety::ops

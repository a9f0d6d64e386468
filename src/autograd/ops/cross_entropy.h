// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// Sum over the rows of -log softmax(scores)[target]; rows with a negative target count nothing.
/// scores [N, C], target [N] i32 -> [].
Variable cross_entropy(const Variable& scores, const Tensor& target);

/// The same of scores = x weight^T + bias, of which only some rows exist at a time: a vocabulary's
/// scores of a whole batch would be the largest tensor of a language model. Gradients are computed
/// with the loss. x [N, In], weight [C, In], bias [C] or undefined, target [N] i32 -> []. Neither
/// has a second derivative: asking for one throws Error.
Variable linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                              const Tensor& target);

}  // namespace moiety::ops

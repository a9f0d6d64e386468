// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "autograd/variable.h"

namespace moiety::ops {

/// `value`, which is f(x), without what the operations that made it save: the backward pass calls f
/// for that and takes the gradients of x and of `parameters` from there (Chen et al. 2016). f must
/// give the same bits again; it reads no parameters but those given, which are leaves, and what it
/// captures must live as long as the graph.
/// There is no second derivative: a backward pass that is recorded throws Error.
Variable recompute(const Tensor& value, const std::function<Variable(const Variable&)>& f,
                   const Variable& x, const Variables& parameters);

}  // namespace moiety::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

// Element by element, with NumPy broadcasting for two operands.
namespace moiety::ops {

Variable add(const Variable& a, const Variable& b);
Variable sub(const Variable& a, const Variable& b);
Variable mul(const Variable& a, const Variable& b);
Variable div(const Variable& a, const Variable& b);
/// The larger; where equal, the gradient goes to a.
Variable maximum(const Variable& a, const Variable& b);
Variable minimum(const Variable& a, const Variable& b);

/// scale * x + shift.
Variable affine(const Variable& x, double scale, double shift = 0.0);
Variable neg(const Variable& x);
Variable abs(const Variable& x);
Variable square(const Variable& x);
Variable sqrt(const Variable& x);
Variable exp(const Variable& x);
Variable log(const Variable& x);
Variable sin(const Variable& x);
Variable cos(const Variable& x);
/// x^p for a constant p.
Variable pow(const Variable& x, double p);

Variable relu(const Variable& x);
Variable sigmoid(const Variable& x);
Variable tanh(const Variable& x);
/// x * sigmoid(x).
Variable silu(const Variable& x);
/// x * Phi(x) with the exact normal distribution function (erf).
Variable gelu(const Variable& x);
/// Its approximation x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, as GPT-2 has it
/// (Hendrycks and Gimpel 2016).
Variable gelu_tanh(const Variable& x);
/// log(1 + exp(x)) without overflow.
Variable softplus(const Variable& x);

/// 1 where x > 0, else 0, in x's dtype; no gradient.
Variable step(const Variable& x);
/// -1, 0 or 1; no gradient.
Variable sign(const Variable& x);

/// Repeats x to a shape that it broadcasts to.
Variable broadcast_to(const Variable& x, const Shape& shape);
/// The adjoint of broadcast_to: sums x over the repeated dimensions down to `shape`.
Variable sum_to(const Variable& x, const Shape& shape);

/// Converts to another floating dtype; the gradient comes back in x's.
Variable cast(const Variable& x, DType dtype);

}  // namespace moiety::ops

// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "kernels/elementwise.h"

// Functions with a fused gradient kernel. Its result cannot be differentiated, so that where the
// backward pass is recorded the rule is made of operations instead.
namespace moiety::ops {
namespace {

using autograd::grad_enabled;
using autograd::kAll;
using autograd::record;
using autograd::RuleContext;
using kernels::UnaryOp;

Tensor compute(UnaryOp op, const Variable& x) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::unary(x.device().stream(), op, x.data(), out);
  return out;
}

Variable fused_grad(UnaryOp op, const Variable& saved, const Variable& grad) {
  Tensor out = Tensor::empty(grad.shape(), grad.dtype(), grad.device());
  kernels::unary_grad(grad.device().stream(), op, saved.data(), grad.data(), out);
  return Variable(out);
}

/// An operation whose derivative is computed from its output: derivative(y), made of operations.
template <UnaryOp kOp, auto kDerivative>
Variable from_output(const char* name, const Variable& x) {
  return record(name, {x}, compute(kOp, x), {.outputs = kAll},
                [](const RuleContext& c) -> Variables {
                  if (!grad_enabled()) return {fused_grad(kOp, c.output(), c.grad())};
                  return {mul(c.grad(), kDerivative(c.output()))};
                });
}

/// The same for a derivative that is computed from the input.
template <UnaryOp kOp, auto kDerivative>
Variable from_input(const char* name, const Variable& x) {
  return record(name, {x}, compute(kOp, x), {.inputs = kAll},
                [](const RuleContext& c) -> Variables {
                  if (!grad_enabled()) return {fused_grad(kOp, c.input(0), c.grad())};
                  return {mul(c.grad(), kDerivative(c.input(0)))};
                });
}

/// Density of the normal distribution.
Variable normal_density(const Variable& x) {
  constexpr double kScale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return affine(exp(affine(square(x), -0.5)), kScale);
}

Variable normal_cdf(const Variable& x) {
  return record("normal_cdf", {x}, compute(UnaryOp::normal_cdf, x), {.inputs = kAll},
                [](const RuleContext& c) -> Variables {
                  return {mul(c.grad(), normal_density(c.input(0)))};
                });
}

Variable identity(const Variable& y) { return y; }
Variable sqrt_derivative(const Variable& y) { return affine(pow(y, -1.0), 0.5); }
Variable sigmoid_derivative(const Variable& y) { return mul(y, affine(y, -1.0, 1.0)); }
Variable tanh_derivative(const Variable& y) { return affine(square(y), -1.0, 1.0); }

Variable silu_derivative(const Variable& x) {
  const Variable s = sigmoid(x);
  return add(s, mul(x, sigmoid_derivative(s)));
}

Variable gelu_derivative(const Variable& x) {
  return add(normal_cdf(x), mul(x, normal_density(x)));
}

Variable gelu_tanh_derivative(const Variable& x) {
  constexpr double kSlope = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  constexpr double kCubic = 0.044715;
  const Variable squared = square(x);
  const Variable s = sigmoid(mul(x, affine(squared, kSlope * kCubic, kSlope)));
  const Variable slope = affine(squared, 3 * kSlope * kCubic, kSlope);
  return add(s, mul(mul(x, sigmoid_derivative(s)), slope));
}

}  // namespace

Variable sqrt(const Variable& x) { return from_output<UnaryOp::sqrt, sqrt_derivative>("sqrt", x); }

Variable exp(const Variable& x) { return from_output<UnaryOp::exp, identity>("exp", x); }

Variable relu(const Variable& x) { return from_output<UnaryOp::relu, step>("relu", x); }

Variable sigmoid(const Variable& x) {
  return from_output<UnaryOp::sigmoid, sigmoid_derivative>("sigmoid", x);
}

Variable tanh(const Variable& x) { return from_output<UnaryOp::tanh, tanh_derivative>("tanh", x); }

Variable silu(const Variable& x) { return from_input<UnaryOp::silu, silu_derivative>("silu", x); }

Variable gelu(const Variable& x) { return from_input<UnaryOp::gelu, gelu_derivative>("gelu", x); }

Variable gelu_tanh(const Variable& x) {
  return from_input<UnaryOp::gelu_tanh, gelu_tanh_derivative>("gelu_tanh", x);
}

Variable softplus(const Variable& x) {
  return from_input<UnaryOp::softplus, sigmoid>("softplus", x);
}

}  // namespace moiety::ops

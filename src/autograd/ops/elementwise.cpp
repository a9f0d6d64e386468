// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/elementwise.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/elementwise.h"

namespace moiety::ops {
namespace {

using autograd::kAll;
using autograd::record;
using autograd::RuleContext;
using kernels::BinaryOp;
using kernels::UnaryOp;

Tensor compute(BinaryOp op, const Variable& a, const Variable& b) {
  check<DTypeError>(a.dtype() == b.dtype(), "operands of ", name_of(a.dtype()), " and ",
                    name_of(b.dtype()), "; cast one of them");
  check_same_device({&a.data(), &b.data()});
  Tensor out = Tensor::empty(broadcast_shapes(a.shape(), b.shape()), a.dtype(), a.device());
  kernels::binary(a.device().stream(), op, a.data(), b.data(), out);
  return out;
}

Tensor compute(UnaryOp op, const Variable& x) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::unary(x.device().stream(), op, x.data(), out);
  return out;
}

/// Gradient of input i, made only when wanted and summed down to the input's shape.
template <class F>
Variable gradient_of(const RuleContext& c, int i, const F& gradient) {
  return c.needs(i) ? sum_to(gradient(), c.input_shape(i)) : Variable();
}

/// 1 where a >= b, else 0: a constant.
Variable greater_equal(const Variable& a, const Variable& b) {
  return Variable(compute(BinaryOp::greater_equal, a, b));
}

/// The rule of maximum and minimum: `first(a, b)` is 1 where the result is a.
template <class F>
Variables selected_gradients(const RuleContext& c, const F& first) {
  const Variable mask = first(c.input(0), c.input(1));
  return {gradient_of(c, 0, [&] { return mul(c.grad(), mask); }),
          gradient_of(c, 1, [&] { return mul(c.grad(), affine(mask, -1.0, 1.0)); })};
}

}  // namespace

Variable add(const Variable& a, const Variable& b) {
  return record("add", {a, b}, compute(BinaryOp::add, a, b), {},
                [](const RuleContext& c) -> Variables {
                  return {gradient_of(c, 0, [&] { return c.grad(); }),
                          gradient_of(c, 1, [&] { return c.grad(); })};
                });
}

Variable sub(const Variable& a, const Variable& b) {
  return record("sub", {a, b}, compute(BinaryOp::sub, a, b), {},
                [](const RuleContext& c) -> Variables {
                  return {gradient_of(c, 0, [&] { return c.grad(); }),
                          gradient_of(c, 1, [&] { return neg(c.grad()); })};
                });
}

Variable mul(const Variable& a, const Variable& b) {
  return record("mul", {a, b}, compute(BinaryOp::mul, a, b), {.inputs = kAll},
                [](const RuleContext& c) -> Variables {
                  return {gradient_of(c, 0, [&] { return mul(c.grad(), c.input(1)); }),
                          gradient_of(c, 1, [&] { return mul(c.grad(), c.input(0)); })};
                });
}

Variable div(const Variable& a, const Variable& b) {
  return record("div", {a, b}, compute(BinaryOp::div, a, b), {.inputs = 0b10, .outputs = kAll},
                [](const RuleContext& c) -> Variables {
                  const Variable quotient = div(c.grad(), c.input(1));
                  return {gradient_of(c, 0, [&] { return quotient; }),
                          gradient_of(c, 1, [&] { return neg(mul(quotient, c.output())); })};
                });
}

Variable maximum(const Variable& a, const Variable& b) {
  return record("maximum", {a, b}, compute(BinaryOp::maximum, a, b), {.inputs = kAll},
                [](const RuleContext& c) { return selected_gradients(c, greater_equal); });
}

Variable minimum(const Variable& a, const Variable& b) {
  return record("minimum", {a, b}, compute(BinaryOp::minimum, a, b), {.inputs = kAll},
                [](const RuleContext& c) {
                  return selected_gradients(
                      c, [](const Variable& x, const Variable& y) { return greater_equal(y, x); });
                });
}

Variable affine(const Variable& x, double scale, double shift) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::affine(x.device().stream(), scale, shift, x.data(), out);
  return record("affine", {x}, out, {},
                [scale](const RuleContext& c) -> Variables { return {affine(c.grad(), scale)}; });
}

Variable neg(const Variable& x) { return affine(x, -1.0); }

Variable abs(const Variable& x) {
  return record(
      "abs", {x}, compute(UnaryOp::abs, x), {.inputs = kAll},
      [](const RuleContext& c) -> Variables { return {mul(c.grad(), sign(c.input(0)))}; });
}

Variable square(const Variable& x) {
  return record(
      "square", {x}, compute(UnaryOp::square, x), {.inputs = kAll},
      [](const RuleContext& c) -> Variables { return {mul(affine(c.grad(), 2.0), c.input(0))}; });
}

Variable log(const Variable& x) {
  return record("log", {x}, compute(UnaryOp::log, x), {.inputs = kAll},
                [](const RuleContext& c) -> Variables { return {div(c.grad(), c.input(0))}; });
}

Variable sin(const Variable& x) {
  return record("sin", {x}, compute(UnaryOp::sin, x), {.inputs = kAll},
                [](const RuleContext& c) -> Variables { return {mul(c.grad(), cos(c.input(0)))}; });
}

Variable cos(const Variable& x) {
  return record(
      "cos", {x}, compute(UnaryOp::cos, x), {.inputs = kAll},
      [](const RuleContext& c) -> Variables { return {neg(mul(c.grad(), sin(c.input(0))))}; });
}

Variable pow(const Variable& x, double p) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::pow(x.device().stream(), p, x.data(), out);
  return record("pow", {x}, out, {.inputs = kAll}, [p](const RuleContext& c) -> Variables {
    if (p == 0.0) return {affine(c.grad(), 0.0)};
    return {mul(affine(c.grad(), p), pow(c.input(0), p - 1.0))};
  });
}

Variable step(const Variable& x) { return Variable(compute(UnaryOp::step, x)); }

Variable sign(const Variable& x) { return Variable(compute(UnaryOp::sign, x)); }

Variable cast(const Variable& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor out = Tensor::empty(x.shape(), dtype, x.device());
  kernels::cast(x.device().stream(), contiguous(x.data()), out);
  const Variable result = record(
      "cast", {x}, out, {},
      [from = x.dtype()](const RuleContext& c) -> Variables { return {cast(c.grad(), from)}; });
  if (result.node()) result.node()->mark_cast();
  return result;
}

}  // namespace moiety::ops

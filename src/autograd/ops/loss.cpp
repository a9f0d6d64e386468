// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/loss.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"

namespace moiety::ops {
namespace {

using autograd::kAll;
using autograd::record;
using autograd::RuleContext;
using kernels::RegressionLoss;

Variable fused_gradient(const RegressionLoss& loss, const Variable& prediction,
                        const Tensor& target, const Variable& grad) {
  Tensor out = Tensor::empty(prediction.shape(), prediction.dtype(), prediction.device());
  kernels::regression_loss_grad(prediction.device().stream(), loss, contiguous(prediction.data()),
                                target, grad.data(), out);
  return Variable(out);
}

Variable derivative(const RegressionLoss& loss, const Variable& prediction,
                    const Variable& target) {
  if (loss.loss == Loss::bce) return sub(sigmoid(prediction), target);
  const Variable d = sub(prediction, target);
  if (loss.loss == Loss::mse) return affine(d, 2.0);
  if (loss.loss == Loss::mae) return sign(d);
  // d within [-delta, delta] and delta * sign(d) outside, whose derivative is 0.
  const Variable outside = step(affine(abs(d), 1.0, -loss.delta));
  return add(mul(affine(outside, -1.0, 1.0), d), mul(affine(outside, loss.delta), sign(d)));
}

/// The same gradient made of operations, so that it can be differentiated.
Variable gradient(const RegressionLoss& loss, const Variable& prediction, const Tensor& target,
                  const Variable& grad) {
  const Tensor filled = Tensor::empty(target.shape(), prediction.dtype(), target.device());
  const Tensor present = Tensor::empty(target.shape(), prediction.dtype(), target.device());
  kernels::split_missing(target.device().stream(), target, filled, present);
  const Variable slope = derivative(loss, prediction, Variable(filled));
  return mul(mul(affine(grad, loss.scale), Variable(present)), slope);
}

}  // namespace

Variable regression_loss(const Variable& prediction, const Tensor& target, Loss loss, double scale,
                         double delta) {
  check<ShapeError>(prediction.shape() == target.shape(), "regression_loss: prediction ",
                    prediction.shape(), " and target ", target.shape());
  check<DTypeError>(target.dtype() == DType::f32 || target.dtype() == prediction.dtype(),
                    "regression_loss: target of ", name_of(target.dtype()), " for a prediction of ",
                    name_of(prediction.dtype()));
  check(delta > 0, "regression_loss: delta must be positive, not ", delta);
  check_same_device({&prediction.data(), &target});
  const RegressionLoss how{loss, scale, delta};
  const Tensor dense = contiguous(target);
  Tensor out = Tensor::empty({}, prediction.dtype(), prediction.device());
  kernels::regression_loss(out.device().stream(), how, contiguous(prediction.data()), dense, out);
  return record("regression_loss", {prediction}, out, {.inputs = kAll},
                [how, dense](const RuleContext& c) -> Variables {
                  const auto rule = autograd::grad_enabled() ? gradient : fused_gradient;
                  return {rule(how, c.input(0), dense, c.grad())};
                });
}

}  // namespace moiety::ops

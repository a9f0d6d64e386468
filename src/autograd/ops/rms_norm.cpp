// SPDX-License-Identifier: Apache-2.0
#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/reduce.h"
#include "kernels/norm.h"

namespace moiety::ops {
namespace {

using autograd::kAll;
using autograd::RuleContext;

Variables fused_gradients(const Tensor& rstd, const RuleContext& c) {
  const Tensor x = contiguous(c.input(0).data());
  const Tensor weight = contiguous(c.input(1).data());
  const Tensor dx = Tensor::empty(x.shape(), x.dtype(), x.device());
  const Tensor dweight = Tensor::empty(weight.shape(), x.dtype(), x.device());
  kernels::rms_norm_grad(x.device().stream(), contiguous(c.grad().data()), x, weight, rstd, dx,
                         dweight);
  return {Variable(dx), Variable(dweight)};
}

Variables gradients_of_ops(double eps, const RuleContext& c) {
  const Variable& x = c.input(0);
  const auto average = [](const Variable& v) { return mean(v, 1, /*keep_dim=*/true); };
  const Variable rstd = pow(affine(average(square(x)), 1.0, eps), -0.5);
  const Variable normal = mul(x, rstd);
  const Variable scaled = mul(c.grad(), c.input(1));
  const Variable slope = average(mul(scaled, normal));
  return {mul(rstd, sub(scaled, mul(normal, slope))),
          sum_to(mul(c.grad(), normal), c.input(1).shape())};
}

}  // namespace

Variable rms_norm(const Variable& x, const Variable& weight, double eps) {
  check<ShapeError>(x.ndim() == 2 && weight.shape() == Shape({x.size(1)}), "rms_norm: weight ",
                    weight.shape(), " for x ", x.shape(), "; they must be [C] and [N, C]");
  check<DTypeError>(weight.dtype() == x.dtype(), "rms_norm: weight in ", weight.dtype(),
                    " for x in ", x.dtype());
  check_same_device({&x.data(), &weight.data()});
  const Tensor rstd = Tensor::empty({x.size(0)}, kernels::statistics_dtype(x.dtype()), x.device());
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::rms_norm(x.device().stream(), eps, contiguous(x.data()), contiguous(weight.data()), out,
                    rstd);
  return autograd::record("rms_norm", {x, weight}, out, {.inputs = kAll},
                          [rstd, eps](const RuleContext& c) -> Variables {
                            if (!autograd::grad_enabled()) return fused_gradients(rstd, c);
                            return gradients_of_ops(eps, c);
                          });
}

}  // namespace moiety::ops

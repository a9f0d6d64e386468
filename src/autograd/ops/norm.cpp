// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/norm.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/reduce.h"
#include "kernels/norm.h"

namespace moiety::ops {
namespace {

using autograd::grad_enabled;
using autograd::kAll;
using autograd::record;
using autograd::RuleContext;

void check_arguments(const char* name, const Variable& x, const Variable& weight,
                     const Variable& bias) {
  check<ShapeError>(x.ndim() == 2, name, ": x must be [N, C], not ", x.shape());
  const Shape vector{x.size(1)};
  check<ShapeError>(weight.shape() == vector && bias.shape() == vector, name, ": weight ",
                    weight.shape(), " and bias ", bias.shape(), " for x ", x.shape());
  check<DTypeError>(weight.dtype() == x.dtype() && bias.dtype() == x.dtype(), name,
                    ": x, weight and bias must be of one dtype");
  check_same_device({&x.data(), &weight.data(), &bias.data()});
}

/// Gradients of x, weight and bias made of operations, where x is normalised over `dim` by its own
/// statistics.
Variables gradients(const Variable& x, const Variable& weight, const Variable& grad, int dim,
                    double eps) {
  const Variable centred = sub(x, mean(x, dim, /*keep_dim=*/true));
  const Variable var = mean(square(centred), dim, /*keep_dim=*/true);
  const Variable rstd = pow(affine(var, 1.0, eps), -0.5);
  const Variable normal = mul(centred, rstd);
  const Variable scaled = mul(grad, weight);
  const Variable shift = mean(scaled, dim, /*keep_dim=*/true);
  const Variable slope = mean(mul(scaled, normal), dim, /*keep_dim=*/true);
  return {mul(rstd, sub(sub(scaled, shift), mul(normal, slope))),
          sum_to(mul(grad, normal), weight.shape()), sum_to(grad, weight.shape())};
}

struct GradTensors {
  explicit GradTensors(const Variable& x)
      : dx(Tensor::empty(x.shape(), x.dtype(), x.device())),
        dweight(Tensor::empty({x.size(1)}, x.dtype(), x.device())),
        dbias(Tensor::empty({x.size(1)}, x.dtype(), x.device())) {}
  kernels::NormGrads views() const { return {dx, dweight, dbias}; }
  Variables variables() const { return {Variable(dx), Variable(dweight), Variable(dbias)}; }

  Tensor dx, dweight, dbias;
};

/// Statistics that a batch norm normalises by; constants to the graph.
struct Statistics {
  Tensor mean;
  Tensor var;
  double eps;

  kernels::ColumnNorm with(const Tensor& weight) const { return {mean, var, weight, eps}; }
};

Variables fused_batch_norm_gradients(const Statistics& s, bool training, const RuleContext& c) {
  const GradTensors out(c.input(0));
  kernels::batch_norm_grad(out.dx.device().stream(), s.with(contiguous(c.input(1).data())),
                           training, contiguous(c.grad().data()), contiguous(c.input(0).data()),
                           out.views());
  return out.variables();
}

/// Gradients where the statistics are constants: x is scaled and shifted.
Variables gradients_at_fixed_statistics(const Statistics& s, const RuleContext& c) {
  const Variable rstd = pow(affine(Variable(s.var), 1.0, s.eps), -0.5);
  const Variable normal = mul(sub(c.input(0), Variable(s.mean)), rstd);
  const Shape& vector = c.input_shape(1);
  return {mul(c.grad(), mul(c.input(1), rstd)), sum_to(mul(c.grad(), normal), vector),
          sum_to(c.grad(), vector)};
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double eps) {
  check_arguments("layer_norm", x, weight, bias);
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  const Tensor mean = Tensor::empty({x.size(0)}, x.dtype(), x.device());
  const Tensor rstd = Tensor::empty({x.size(0)}, x.dtype(), x.device());
  kernels::layer_norm(x.device().stream(), eps, contiguous(x.data()), contiguous(weight.data()),
                      contiguous(bias.data()), out, mean, rstd);
  return record("layer_norm", {x, weight, bias}, out, {.inputs = 0b011},
                [eps, mean, rstd](const RuleContext& c) -> Variables {
                  if (grad_enabled()) return gradients(c.input(0), c.input(1), c.grad(), 1, eps);
                  const GradTensors grads(c.input(0));
                  kernels::layer_norm_grad(mean.device().stream(), contiguous(c.grad().data()),
                                           contiguous(c.input(0).data()),
                                           contiguous(c.input(1).data()), mean, rstd,
                                           grads.views());
                  return grads.variables();
                });
}

Variable batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    const BatchNormState& state, bool training, double momentum, double eps) {
  check_arguments("batch_norm", x, weight, bias);
  const Shape vector{x.size(1)};
  check<ShapeError>(state.mean.shape() == vector && state.var.shape() == vector,
                    "batch_norm: running statistics ", state.mean.shape(), " for x ", x.shape());
  check<DTypeError>(state.mean.dtype() == x.dtype() && state.var.dtype() == x.dtype(),
                    "batch_norm: running statistics must be of x's dtype");
  const Stream& stream = x.device().stream();
  const Tensor dense = contiguous(x.data());
  Statistics statistics{state.mean, state.var, eps};
  if (training) {
    check<ShapeError>(x.size(0) > 1, "batch_norm: training needs more than one row; x is ",
                      x.shape());
    statistics.mean = Tensor::empty(vector, x.dtype(), x.device());
    statistics.var = Tensor::empty(vector, x.dtype(), x.device());
    kernels::column_statistics(stream, dense, statistics.mean, statistics.var);
    kernels::update_running_statistics(stream, momentum, x.size(0), statistics.mean, statistics.var,
                                       state.mean, state.var);
  }
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::batch_norm(stream, statistics.with(contiguous(weight.data())), dense,
                      contiguous(bias.data()), out);
  return record("batch_norm", {x, weight, bias}, out, {.inputs = 0b011},
                [statistics, training](const RuleContext& c) -> Variables {
                  if (!grad_enabled()) return fused_batch_norm_gradients(statistics, training, c);
                  if (!training) return gradients_at_fixed_statistics(statistics, c);
                  return gradients(c.input(0), c.input(1), c.grad(), 0, statistics.eps);
                });
}

}  // namespace moiety::ops

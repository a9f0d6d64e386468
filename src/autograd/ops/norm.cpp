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

/// NormTail for the kernels; the residual's memory lives as long as this.
struct DenseTail {
  DenseTail(const char* name, const Variable& x, const NormTail& tail)
      : relu(tail.epilogue == Epilogue::relu) {
    if (!tail.residual.defined()) return;
    check<ShapeError>(tail.residual.shape() == x.shape(), name, ": residual ",
                      tail.residual.shape(), " for x ", x.shape());
    check<DTypeError>(tail.residual.dtype() == x.dtype(), name, ": residual ",
                      tail.residual.dtype(), " for x in ", x.dtype(), "; cast one of them");
    check_same_device({&x.data(), &tail.residual.data()});
    residual = contiguous(tail.residual.data());
  }
  kernels::NormTail views() const { return {relu, view_or_none(residual)}; }

  bool relu;
  Tensor residual;
};

/// What the rules of norms see: inputs x, weight, bias (saved for a ReLU alone) and residual.
autograd::Saved saved_inputs(bool relu) { return {.inputs = relu ? 0b0111u : 0b0011u}; }

/// The bias of a norm with a ReLU, else nothing.
Tensor relu_bias(bool relu, const RuleContext& c) {
  return relu ? contiguous(c.input(2).data()) : Tensor();
}

/// Gradients of x, weight and bias, followed by that of the residual.
Variables with_residual(Variables grads, const RuleContext& c) {
  grads.push_back(c.needs(3) ? c.grad() : Variable());
  return grads;
}

/// Gradients of x, weight and bias made of operations, where x is normalised by its own statistics:
/// average(v) is the mean over what they are taken over, kept as a dimension of extent 1.
template <class Average>
Variables gradients(const Variable& x, const Variable& weight, const Variable& grad, double eps,
                    const Average& average) {
  const Variable centred = sub(x, average(x));
  const Variable var = average(square(centred));
  const Variable rstd = pow(affine(var, 1.0, eps), -0.5);
  const Variable normal = mul(centred, rstd);
  const Variable scaled = mul(grad, weight);
  const Variable shift = average(scaled);
  const Variable slope = average(mul(scaled, normal));
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

/// What a layer norm was computed with besides its inputs; constants to the graph.
struct LayerNormRecord {
  Tensor mean;
  Tensor rstd;
  double eps;
  bool relu;
};

Variables fused_gradients(const LayerNormRecord& r, const RuleContext& c) {
  const GradTensors out(c.input(0));
  kernels::layer_norm_grad(out.dx.device().stream(), contiguous(c.grad().data()),
                           contiguous(c.input(0).data()), contiguous(c.input(1).data()), r.mean,
                           r.rstd, out.views(), view_or_none(relu_bias(r.relu, c)));
  return out.variables();
}

/// 1 where the ReLU behind the norm passes a gradient, else 0; a constant.
Variable gate(const LayerNormRecord& r, const RuleContext& c) {
  const Tensor& mean = r.mean;
  Tensor normal = Tensor::empty(c.input_shape(0), c.input(0).dtype(), mean.device());
  const Tensor again = Tensor::empty(mean.shape(), mean.dtype(), mean.device());
  kernels::layer_norm(mean.device().stream(), r.eps, contiguous(c.input(0).data()),
                      contiguous(c.input(1).data()), contiguous(c.input(2).data()), normal, again,
                      again);
  return step(Variable(normal));
}

Variables gradients_of_ops(const LayerNormRecord& r, const RuleContext& c) {
  const Variable grad = r.relu ? mul(c.grad(), gate(r, c)) : c.grad();
  return gradients(c.input(0), c.input(1), grad, r.eps,
                   [](const Variable& v) { return mean(v, 1, /*keep_dim=*/true); });
}

/// The same for a batch norm.
struct BatchNormRecord {
  Tensor mean;
  Tensor var;
  Tensor rows;
  double eps;
  bool training;
  bool relu;

  kernels::ColumnNorm with(const Tensor& weight) const { return {mean, var, weight, eps}; }
};

Variables fused_gradients(const BatchNormRecord& r, const RuleContext& c) {
  const GradTensors out(c.input(0));
  kernels::batch_norm_grad(out.dx.device().stream(), r.with(contiguous(c.input(1).data())),
                           r.training, contiguous(c.grad().data()), contiguous(c.input(0).data()),
                           out.views(), view_or_none(r.rows), view_or_none(relu_bias(r.relu, c)));
  return out.variables();
}

Variable gate(const BatchNormRecord& r, const RuleContext& c) {
  Tensor normal = Tensor::empty(c.input_shape(0), c.input(0).dtype(), r.mean.device());
  kernels::batch_norm(r.mean.device().stream(), r.with(contiguous(c.input(1).data())),
                      contiguous(c.input(0).data()), contiguous(c.input(2).data()), normal);
  return step(Variable(normal));
}

/// [N, 1]: 1 / n for the n rows that count, 0 for the rest.
Variable row_weights(const Tensor& rows, const Variable& x) {
  Tensor out = Tensor::empty({x.size(0), 1}, x.dtype(), x.device());
  kernels::row_weights(x.device().stream(), view_or_none(rows), out);
  return Variable(out);
}

Variables gradients_of_ops(const BatchNormRecord& r, const RuleContext& c) {
  const Variable& x = c.input(0);
  const Variable& weight = c.input(1);
  const bool all = !r.rows.defined();
  const Variable share = all ? Variable() : row_weights(r.rows, x);
  const auto counted = [&](const Variable& v) { return all ? v : mul(v, step(share)); };
  const Variable grad = counted(r.relu ? mul(c.grad(), gate(r, c)) : c.grad());
  if (r.training) {
    Variables out = gradients(x, weight, grad, r.eps, [&](const Variable& v) {
      return all ? mean(v, 0, /*keep_dim=*/true) : sum(mul(v, share), 0, /*keep_dim=*/true);
    });
    out[0] = counted(out[0]);
    return out;
  }
  // At fixed statistics, x is scaled and shifted.
  const Variable rstd = cast(pow(affine(Variable(r.var), 1.0, r.eps), -0.5), x.dtype());
  const Variable normal = mul(sub(x, cast(Variable(r.mean), x.dtype())), rstd);
  return {mul(grad, mul(weight, rstd)), sum_to(mul(grad, normal), weight.shape()),
          sum_to(grad, weight.shape())};
}

void check_state(const BatchNormState& state, const Variable& x) {
  const Shape vector{x.size(1)};
  check<ShapeError>(state.mean.shape() == vector && state.var.shape() == vector,
                    "batch_norm: running statistics ", state.mean.shape(), " for x ", x.shape());
  const DType dtype = kernels::statistics_dtype(x.dtype());
  check<DTypeError>(state.mean.dtype() == dtype && state.var.dtype() == dtype,
                    "batch_norm: running statistics must be ", dtype, " for x in ", x.dtype(),
                    ", not ", state.mean.dtype());
}

/// The rule of a norm: kernels of its own, or operations where the gradient is differentiated.
template <class Record>
auto rule_of(const Record& r) {
  return [r](const RuleContext& c) {
    return with_residual(grad_enabled() ? gradients_of_ops(r, c) : fused_gradients(r, c), c);
  };
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double eps,
                    const NormTail& tail) {
  check_arguments("layer_norm", x, weight, bias);
  const DenseTail dense("layer_norm", x, tail);
  const DType dtype = kernels::statistics_dtype(x.dtype());
  const LayerNormRecord norm{Tensor::empty({x.size(0)}, dtype, x.device()),
                             Tensor::empty({x.size(0)}, dtype, x.device()), eps, dense.relu};
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::layer_norm(x.device().stream(), eps, contiguous(x.data()), contiguous(weight.data()),
                      contiguous(bias.data()), out, norm.mean, norm.rstd, dense.views());
  return record("layer_norm", {x, weight, bias, tail.residual}, out, saved_inputs(dense.relu),
                rule_of(norm));
}

Variable batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    const BatchNormState& state, bool training, const BatchNormOptions& options) {
  check_arguments("batch_norm", x, weight, bias);
  check_state(state, x);
  if (options.rows.defined()) check_same_device({&x.data(), &options.rows});
  const TensorView rows = view_or_none(options.rows);
  const Stream& stream = x.device().stream();
  const Tensor dense = contiguous(x.data());
  const DenseTail tail("batch_norm", x, options.tail);
  BatchNormRecord norm{state.mean, state.var, options.rows, options.eps, training, tail.relu};
  if (training) {
    check<ShapeError>(x.size(0) > 1, "batch_norm: training needs more than one row; x is ",
                      x.shape());
    norm.mean = Tensor::empty(state.mean.shape(), state.mean.dtype(), x.device());
    norm.var = Tensor::empty(state.mean.shape(), state.mean.dtype(), x.device());
    kernels::column_statistics(stream, dense, norm.mean, norm.var, rows);
    if (options.updates_state) {
      kernels::update_running_statistics(stream, options.momentum, x.size(0), norm.mean, norm.var,
                                         state.mean, state.var, rows);
    }
  }
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::batch_norm(stream, norm.with(contiguous(weight.data())), dense, contiguous(bias.data()),
                      out, tail.views());
  return record("batch_norm", {x, weight, bias, options.tail.residual}, out,
                saved_inputs(tail.relu), rule_of(norm));
}

}  // namespace moiety::ops

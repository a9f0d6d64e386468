// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/matmul.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/reduce.h"
#include "kernels/matmul.h"

namespace moiety::ops {
namespace {

using autograd::kAll;
using autograd::record;
using autograd::RuleContext;

/// Shape of op(a) op(b); throws ShapeError where they do not fit.
Shape product_shape(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  const int n = a.ndim();
  bool fits = n >= 2 && b.ndim() == n;
  for (int d = 0; fits && d + 2 < n; ++d) fits = a[d] == b[d];
  if (fits) fits = a[n - (transpose_a ? 2 : 1)] == b[n - (transpose_b ? 1 : 2)];
  check<ShapeError>(fits, "matmul: ", a, transpose_a ? " transposed" : "", " times ", b,
                    transpose_b ? " transposed" : "",
                    ": inner extents and leading dimensions must be equal");
  Shape out = a;
  out[n - 2] = a[n - (transpose_a ? 1 : 2)];
  out[n - 1] = b[n - (transpose_b ? 2 : 1)];
  return out;
}

/// A matrix as it is; a stack of matrices with its leading dimensions joined into one.
Tensor stacked(const Tensor& x) {
  if (x.ndim() <= 3) return x;
  std::int64_t batch = 1;
  for (int d = 0; d + 2 < x.ndim(); ++d) batch *= x.shape()[d];
  return x.reshape({batch, x.size(-2), x.size(-1)});
}

/// The gradient of what linear() computed before its epilogue, and that of the bias.
struct EpilogueGrads {
  Variable product;
  Variable bias;
};

EpilogueGrads recorded_epilogue_backward(const RuleContext& c, Epilogue epilogue) {
  EpilogueGrads out{c.grad(), {}};
  if (epilogue == Epilogue::relu) out.product = mul(c.grad(), step(c.output()));
  if (c.needs(2)) out.bias = sum(out.product, 0);
  return out;
}

EpilogueGrads epilogue_backward(const RuleContext& c, Epilogue epilogue) {
  if (autograd::grad_enabled()) return recorded_epilogue_backward(c, epilogue);
  const Tensor grad = contiguous(c.grad().data());
  const bool relu = epilogue == Epilogue::relu;
  const Tensor output = relu ? c.output().data() : Tensor();
  const Tensor masked = relu ? Tensor::empty(grad.shape(), grad.dtype(), grad.device()) : Tensor();
  const Tensor bias =
      c.needs(2) ? Tensor::empty({grad.size(1)}, grad.dtype(), grad.device()) : Tensor();
  if (relu || bias.defined()) {
    kernels::linear_epilogue_backward(grad.device().stream(), grad, view_or_none(output),
                                      view_or_none(masked), view_or_none(bias));
  }
  return {Variable(relu ? masked : grad), bias.defined() ? Variable(bias) : Variable()};
}

/// The gradient of a weight [Out, In], unless it was added where it belongs.
Variable weight_gradient(const RuleContext& c, const Variable& product) {
  const Tensor sink = c.sink(1);
  if (!sink.defined() || !kernels::is_result(sink.dtype(), product.dtype())) {
    return matmul(product, c.input(0), true, false);
  }
  kernels::gemm(sink.device().stream(), true, false, 1.0, contiguous(product.data()),
                contiguous(c.input(0).data()), 1.0, sink);
  return {};
}

void check_linear(const Variable& x, const Variable& weight, const Variable& bias) {
  check<ShapeError>(x.ndim() == 2 && weight.ndim() == 2 && x.size(1) == weight.size(1),
                    "linear: x must be [N, In] and weight [Out, In], not ", x.shape(), " and ",
                    weight.shape());
  check_same_device({&x.data(), &weight.data()});
  if (!bias.defined()) return;
  check<ShapeError>(bias.shape() == Shape{weight.size(0)}, "linear: bias must be [", weight.size(0),
                    "], not ", bias.shape());
  check_same_device({&x.data(), &bias.data()});
}

}  // namespace

Variable matmul(const Variable& a, const Variable& b, bool transpose_a, bool transpose_b) {
  const Shape shape = product_shape(a.shape(), b.shape(), transpose_a, transpose_b);
  check_same_device({&a.data(), &b.data()});
  Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  kernels::gemm(a.device().stream(), transpose_a, transpose_b, 1.0, stacked(contiguous(a.data())),
                stacked(contiguous(b.data())), 0.0, stacked(out));
  return record("matmul", {a, b}, out, {.inputs = kAll},
                [transpose_a, transpose_b](const RuleContext& c) -> Variables {
                  Variables grads(2);
                  const Variable g = c.grad();
                  if (c.needs(0)) {
                    const Variable& other = c.input(1);
                    grads[0] = transpose_a ? matmul(other, g, transpose_b, true)
                                           : matmul(g, other, false, !transpose_b);
                  }
                  if (c.needs(1)) {
                    const Variable& other = c.input(0);
                    grads[1] = transpose_b ? matmul(g, other, true, transpose_a)
                                           : matmul(other, g, !transpose_a, false);
                  }
                  return grads;
                });
}

Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                Epilogue epilogue) {
  check_linear(x, weight, bias);
  Tensor out = Tensor::empty({x.size(0), weight.size(0)}, x.dtype(), x.device());
  const Tensor shift = bias.defined() ? contiguous(bias.data()) : Tensor();
  kernels::linear(x.device().stream(), contiguous(x.data()), contiguous(weight.data()),
                  view_or_none(shift), epilogue == Epilogue::relu, out);
  return record("linear", {x, weight, bias}, out,
                {.inputs = 0b011, .outputs = epilogue == Epilogue::relu ? kAll : 0},
                [epilogue](const RuleContext& c) -> Variables {
                  const EpilogueGrads grads = epilogue_backward(c, epilogue);
                  Variables out_grads(3);
                  if (c.needs(0)) out_grads[0] = matmul(grads.product, c.input(1));
                  if (c.needs(1)) out_grads[1] = weight_gradient(c, grads.product);
                  out_grads[2] = grads.bias;
                  return out_grads;
                });
}

}  // namespace moiety::ops

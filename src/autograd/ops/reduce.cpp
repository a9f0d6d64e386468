// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/reduce.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/shape.h"
#include "kernels/reduce.h"

namespace moiety::ops {
namespace {

using autograd::grad_enabled;
using autograd::kAll;
using autograd::record;
using autograd::RuleContext;

/// A reduction over one dimension of a shape: as the kernels see it, [A, N, B], and its results.
struct Reduction {
  Reduction(const Shape& shape, int dim, bool keep_dim) {
    const int over = normalize_dim(dim, shape.ndim());
    for (int d = 0; d < shape.ndim(); ++d) {
      grouped[d < over ? 0 : d == over ? 1 : 2] *= shape[d];
      kept.push_back(d == over ? 1 : shape[d]);
      if (d != over || keep_dim) out.push_back(kept[d]);
    }
  }
  Shape reduced() const { return {grouped[0], grouped[2]}; }

  Shape grouped{1, 1, 1};  ///< [A, N, B]
  Shape kept;              ///< the result with the dimension kept as 1
  Shape out;               ///< the result's shape
};

Variable scaled_sum(const char* name, const Variable& x, int dim, bool keep_dim, bool mean) {
  const Reduction r(x.shape(), dim, keep_dim);
  const double scale = mean ? 1.0 / static_cast<double>(r.grouped[1]) : 1.0;
  Tensor out = Tensor::empty(r.reduced(), x.dtype(), x.device());
  kernels::sum(x.device().stream(), scale, contiguous(x.data()).reshape(r.grouped), out);
  return record(name, {x}, out.reshape(r.out), {},
                [scale, kept = r.kept](const RuleContext& c) -> Variables {
                  const Variable grad = scale == 1.0 ? c.grad() : affine(c.grad(), scale);
                  return {broadcast_to(reshape(grad, kept), c.input_shape(0))};
                });
}

Variable scaled_total(const char* name, const Variable& x, double scale) {
  Tensor out = Tensor::empty({1, 1}, x.dtype(), x.device());
  kernels::sum(x.device().stream(), scale, contiguous(x.data()).reshape({1, x.numel(), 1}), out);
  return record(name, {x}, out.reshape({}), {}, [scale](const RuleContext& c) -> Variables {
    const Variable grad = scale == 1.0 ? c.grad() : affine(c.grad(), scale);
    return {broadcast_to(grad, c.input_shape(0))};
  });
}

// x [A, N, B] -> x[a, index[a, b], b] [A, B], and its adjoint, which are each other's rules.
Variable place(const Variable& x, const Tensor& index, const Shape& shape);

Variable select(const Variable& x, const Tensor& index) {
  Tensor out = Tensor::empty(index.shape(), x.dtype(), x.device());
  kernels::select(x.device().stream(), contiguous(x.data()), index, out);
  return record("select", {x}, out, {}, [index](const RuleContext& c) -> Variables {
    return {place(c.grad(), index, c.input_shape(0))};
  });
}

Variable place(const Variable& x, const Tensor& index, const Shape& shape) {
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  kernels::place(x.device().stream(), contiguous(x.data()), index, out);
  return record("place", {x}, out, {},
                [index](const RuleContext& c) -> Variables { return {select(c.grad(), index)}; });
}

Shape rows_of(const Tensor& x) {
  check<ShapeError>(x.ndim() > 0, "softmax takes at least one dimension");
  const std::int64_t width = x.shape().back();
  return {width == 0 ? 0 : x.numel() / width, width};
}

using RowKernel = void (*)(const Stream&, const TensorView&, const TensorView&);
using RowGradKernel = void (*)(const Stream&, const TensorView&, const TensorView&,
                               const TensorView&);

Tensor compute_rows(RowKernel kernel, const Variable& x) {
  const Shape rows = rows_of(x.data());
  Tensor out = Tensor::empty(rows, x.dtype(), x.device());
  kernel(x.device().stream(), contiguous(x.data()).reshape(rows), out);
  return out.reshape(x.shape());
}

Variable fused_row_grad(RowGradKernel kernel, const Variable& y, const Variable& grad) {
  const Shape rows = rows_of(y.data());
  Tensor out = Tensor::empty(rows, y.dtype(), y.device());
  kernel(y.device().stream(), y.data().reshape(rows), contiguous(grad.data()).reshape(rows), out);
  return Variable(out.reshape(y.shape()));
}

}  // namespace

Variable sum(const Variable& x) { return scaled_total("sum", x, 1.0); }

Variable mean(const Variable& x) {
  return scaled_total("mean", x, 1.0 / static_cast<double>(x.numel()));
}

Variable sum(const Variable& x, int dim, bool keep_dim) {
  return scaled_sum("sum", x, dim, keep_dim, /*mean=*/false);
}

Variable mean(const Variable& x, int dim, bool keep_dim) {
  return scaled_sum("mean", x, dim, keep_dim, /*mean=*/true);
}

Variable max(const Variable& x, int dim, bool keep_dim) {
  const Reduction r(x.shape(), dim, keep_dim);
  check<ShapeError>(r.grouped[1] > 0, "max over dimension ", dim, " of shape ", x.shape(),
                    ", which has no elements");
  Tensor out = Tensor::empty(r.reduced(), x.dtype(), x.device());
  const Tensor index = Tensor::empty(r.reduced(), DType::i32, x.device());
  kernels::max(x.device().stream(), contiguous(x.data()).reshape(r.grouped), out, index);
  return record("max", {x}, out.reshape(r.out), {},
                [index, grouped = r.grouped](const RuleContext& c) -> Variables {
                  const Variable grad = reshape(c.grad(), index.shape());
                  return {reshape(place(grad, index, grouped), c.input_shape(0))};
                });
}

Variable log_sum_exp(const Variable& x, int dim, bool keep_dim) {
  const Reduction r(x.shape(), dim, keep_dim);
  Tensor out = Tensor::empty(r.reduced(), x.dtype(), x.device());
  kernels::log_sum_exp(x.device().stream(), contiguous(x.data()).reshape(r.grouped), out);
  return record("log_sum_exp", {x}, out.reshape(r.out), {.inputs = kAll, .outputs = kAll},
                [kept = r.kept](const RuleContext& c) -> Variables {
                  const Variable weights = exp(sub(c.input(0), reshape(c.output(), kept)));
                  return {mul(weights, reshape(c.grad(), kept))};
                });
}

Variable softmax(const Variable& x) {
  return record("softmax", {x}, compute_rows(kernels::softmax, x), {.outputs = kAll},
                [](const RuleContext& c) -> Variables {
                  const Variable y = c.output();
                  if (!grad_enabled()) return {fused_row_grad(kernels::softmax_grad, y, c.grad())};
                  const Variable weighted = mul(y, c.grad());
                  return {sub(weighted, mul(y, sum(weighted, -1, /*keep_dim=*/true)))};
                });
}

Variable log_softmax(const Variable& x) {
  return record("log_softmax", {x}, compute_rows(kernels::log_softmax, x), {.outputs = kAll},
                [](const RuleContext& c) -> Variables {
                  const Variable y = c.output();
                  if (!grad_enabled()) {
                    return {fused_row_grad(kernels::log_softmax_grad, y, c.grad())};
                  }
                  return {sub(c.grad(), mul(exp(y), sum(c.grad(), -1, /*keep_dim=*/true)))};
                });
}

}  // namespace moiety::ops

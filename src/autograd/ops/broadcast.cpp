// SPDX-License-Identifier: Apache-2.0
#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace moiety::ops {
namespace {

using autograd::record;
using autograd::RuleContext;

/// The sum over dimensions [first, last), which stay with extent 1.
Tensor sum_dims(const Tensor& x, int first, int last) {
  Shape out_shape = x.shape();
  Shape grouped{1, 1, 1};
  for (int d = 0; d < x.ndim(); ++d) {
    grouped[d < first ? 0 : d < last ? 1 : 2] *= x.shape()[d];
    if (first <= d && d < last) out_shape[d] = 1;
  }
  Tensor out = Tensor::empty({grouped[0], grouped[2]}, x.dtype(), x.device());
  kernels::sum(x.device().stream(), 1.0, x.reshape(grouped), out);
  return out.reshape(out_shape);
}

/// Sums x over the dimensions that repeat in it when `shape` (of as many dimensions) broadcasts.
Tensor sum_repeats(Tensor x, const Shape& shape) {
  for (int d = 0; d < shape.ndim(); ++d) {
    if (shape[d] == x.shape()[d]) continue;
    int last = d + 1;
    while (last < shape.ndim() && shape[last] == 1) ++last;
    x = sum_dims(x, d, last);
    d = last - 1;
  }
  return x;
}

}  // namespace

Tensor contiguous(const Tensor& x) {
  if (x.contiguous()) return x;
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::copy(x.device().stream(), x, out);
  return out;
}

Variable broadcast_to(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  kernels::copy(x.device().stream(), x.data(), out);
  return record("broadcast_to", {x}, out, {}, [](const RuleContext& c) -> Variables {
    return {sum_to(c.grad(), c.input_shape(0))};
  });
}

Variable sum_to(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check<ShapeError>(shape.ndim() <= x.ndim() && broadcast_shapes(shape, x.shape()) == x.shape(),
                    "sum_to: ", shape, " does not broadcast to ", x.shape());
  Shape padded = x.shape();
  const int lead = x.ndim() - shape.ndim();
  for (int d = 0; d < x.ndim(); ++d) padded[d] = d < lead ? 1 : shape[d - lead];
  Tensor out = sum_repeats(contiguous(x.data()), padded).reshape(shape);
  return record("sum_to", {x}, out, {}, [](const RuleContext& c) -> Variables {
    return {broadcast_to(c.grad(), c.input_shape(0))};
  });
}

}  // namespace moiety::ops

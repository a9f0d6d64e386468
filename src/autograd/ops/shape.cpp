// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/shape.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/shape.h"

namespace moiety::ops {
namespace {

using autograd::record;
using autograd::RuleContext;

/// x in rows [begin, begin + extent of x) of dimension `dim` of zeros of `shape`: the adjoint of
/// slice.
Variable pad(const Variable& x, int dim, std::int64_t begin, const Shape& shape) {
  Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
  const std::int64_t end = begin + x.shape()[dim];
  kernels::insert(x.device().stream(), contiguous(x.data()), out.slice(dim, begin, end));
  return record("pad", {x}, out, {}, [dim, begin, end](const RuleContext& c) -> Variables {
    return {slice(c.grad(), dim, begin, end)};
  });
}

Shape joined_shape(const Variables& parts, int dim) {
  check<ShapeError>(!parts.empty(), "concat of nothing");
  Shape out = parts[0].shape();
  out[dim] = 0;
  for (const Variable& part : parts) {
    bool fits = part.ndim() == out.ndim();
    for (int d = 0; fits && d < out.ndim(); ++d) fits = d == dim || part.shape()[d] == out[d];
    check<ShapeError>(fits, "concat along dimension ", dim, ": shapes ", parts[0].shape(), " and ",
                      part.shape(), " do not fit");
    check<DTypeError>(part.dtype() == parts[0].dtype(), "concat of ", name_of(parts[0].dtype()),
                      " and ", name_of(part.dtype()));
    check_same_device({&parts[0].data(), &part.data()});
    out[dim] += part.shape()[dim];
  }
  return out;
}

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record(
      "reshape", {x}, contiguous(x.data()).reshape(shape), {},
      [](const RuleContext& c) -> Variables { return {reshape(c.grad(), c.input_shape(0))}; });
}

Variable transpose(const Variable& x, int dim0, int dim1) {
  return record("transpose", {x}, contiguous(x.data().transpose(dim0, dim1)), {},
                [dim0, dim1](const RuleContext& c) -> Variables {
                  return {transpose(c.grad(), dim0, dim1)};
                });
}

Variable slice(const Variable& x, int dim, std::int64_t begin, std::int64_t end) {
  const int d = normalize_dim(dim, x.ndim());
  return record("slice", {x}, contiguous(x.data().slice(d, begin, end)), {},
                [d, begin](const RuleContext& c) -> Variables {
                  return {pad(c.grad(), d, begin, c.input_shape(0))};
                });
}

Variables split(const Variable& x, int dim, const std::vector<std::int64_t>& extents) {
  const int d = normalize_dim(dim, x.ndim());
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::int64_t extent : extents) {
    check<ShapeError>(extent >= 0 && extent <= x.size(d) - begin, "split of dimension ", d, " of ",
                      x.shape(), ": part ", parts.size(), " has an extent of ", extent);
    parts.push_back(x.data().slice(d, begin, begin + extent));
    begin += extent;
  }
  check<ShapeError>(begin == x.size(d), "split of dimension ", d, " of ", x.shape(),
                    " into parts that add up to ", begin);
  return autograd::record_many("split", {x}, parts, {},
                               [d, count = extents.size()](const RuleContext& c) -> Variables {
                                 Variables grads;
                                 for (std::size_t i = 0; i < count; ++i) {
                                   grads.push_back(c.grad(static_cast<int>(i)));
                                 }
                                 return {concat(grads, d)};
                               });
}

Variable concat(const Variables& parts, int dim) {
  check<ShapeError>(!parts.empty(), "concat of nothing");
  const int d = normalize_dim(dim, parts[0].ndim());
  Tensor out = Tensor::empty(joined_shape(parts, d), parts[0].dtype(), parts[0].device());
  std::int64_t begin = 0;
  for (const Variable& part : parts) {
    const std::int64_t end = begin + part.shape()[d];
    kernels::insert(out.device().stream(), contiguous(part.data()), out.slice(d, begin, end));
    begin = end;
  }
  return record("concat", parts, out, {}, [d](const RuleContext& c) -> Variables {
    Variables grads;
    std::int64_t first = 0;
    for (int i = 0; i < c.input_count(); ++i) {
      const std::int64_t last = first + c.input_shape(i)[d];
      grads.push_back(c.needs(i) ? slice(c.grad(), d, first, last) : Variable());
      first = last;
    }
    return grads;
  });
}

}  // namespace moiety::ops

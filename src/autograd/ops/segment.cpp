// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/segment.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "kernels/index_check.h"
#include "kernels/segment.h"

// Each reduction and its adjoint are recorded operations, and each is the other's rule.
namespace moiety::ops {
namespace {

using autograd::record;
using autograd::record_many;
using autograd::RuleContext;
using kernels::SegmentScale;

std::int64_t segments_of(const Tensor& ptr) { return ptr.numel() - 1; }

void check_rows(const char* name, const Variable& x) {
  check<ShapeError>(x.ndim() == 2, name, ": x must be [N, C], not ", x.shape());
}

void check_input(const char* name, const Variable& x, const Tensor& ptr) {
  check_rows(name, x);
  check_same_device({&x.data(), &ptr});
  kernels::check_ptr(ptr.device().stream(), ptr, x.size(0), name, "ptr");
}

Variable broadcast(const Variable& y, const Tensor& ptr, std::int64_t rows, SegmentScale scale);

// From here on ptr is known to fit.

Variable sum(const Variable& x, const Tensor& ptr, SegmentScale scale) {
  const Tensor in = contiguous(x.data());
  Tensor out = Tensor::empty({segments_of(ptr), x.size(1)}, x.dtype(), x.device());
  kernels::segment_sum(x.device().stream(), in, ptr, scale, out);
  return record("segment_sum", {x}, out, {}, [ptr, scale](const RuleContext& c) -> Variables {
    return {broadcast(c.grad(), ptr, c.input_shape(0)[0], scale)};
  });
}

Variable broadcast(const Variable& y, const Tensor& ptr, std::int64_t rows, SegmentScale scale) {
  const Tensor in = contiguous(y.data());
  Tensor out = Tensor::empty({rows, y.size(1)}, y.dtype(), y.device());
  kernels::segment_broadcast(y.device().stream(), in, ptr, scale, out);
  return record("segment_broadcast", {y}, out, {}, [ptr, scale](const RuleContext& c) -> Variables {
    return {sum(c.grad(), ptr, scale)};
  });
}

Variable place(const Variable& y, const Tensor& row, const Tensor& ptr, std::int64_t rows);

Variable pick(const Variable& x, const Tensor& row, const Tensor& ptr) {
  const Tensor in = contiguous(x.data());
  Tensor out = Tensor::empty(row.shape(), x.dtype(), x.device());
  kernels::segment_pick(x.device().stream(), in, row, out);
  return record("segment_pick", {x}, out, {}, [row, ptr](const RuleContext& c) -> Variables {
    return {place(c.grad(), row, ptr, c.input_shape(0)[0])};
  });
}

Variable place(const Variable& y, const Tensor& row, const Tensor& ptr, std::int64_t rows) {
  const Tensor in = contiguous(y.data());
  Tensor out = Tensor::empty({rows, y.size(1)}, y.dtype(), y.device());
  kernels::segment_place(y.device().stream(), in, row, ptr, out);
  return record("segment_place", {y}, out, {}, [row, ptr](const RuleContext& c) -> Variables {
    return {pick(c.grad(), row, ptr)};
  });
}

/// dx = y (grad - sum over the segment of y grad).
Variable softmax_gradient(const Variable& y, const Variable& grad, const Tensor& ptr) {
  if (autograd::grad_enabled()) {
    const Variable mean = sum(mul(y, grad), ptr, SegmentScale::none);
    return mul(y, sub(grad, broadcast(mean, ptr, y.size(0), SegmentScale::none)));
  }
  Tensor dx = Tensor::empty(y.shape(), y.dtype(), y.device());
  kernels::segment_softmax_backward(y.device().stream(), y.data(), contiguous(grad.data()), ptr,
                                    dx);
  return Variable(dx);
}

}  // namespace

Variable segment_sum(const Variable& x, const Tensor& ptr) {
  check_input("segment_sum", x, ptr);
  return sum(x, ptr, SegmentScale::none);
}

Variable segment_mean(const Variable& x, const Tensor& ptr) {
  check_input("segment_mean", x, ptr);
  return sum(x, ptr, SegmentScale::by_size);
}

Variable segment_max(const Variable& x, const Tensor& ptr) {
  check_input("segment_max", x, ptr);
  const Tensor in = contiguous(x.data());
  const Shape shape{segments_of(ptr), x.size(1)};
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  Tensor row = Tensor::empty(shape, DType::i32, x.device());
  kernels::segment_max(x.device().stream(), in, ptr, out, row);
  return record("segment_max", {x}, out, {}, [row, ptr](const RuleContext& c) -> Variables {
    return {place(c.grad(), row, ptr, c.input_shape(0)[0])};
  });
}

Variable segment_softmax(const Variable& x, const Tensor& ptr) {
  check_input("segment_softmax", x, ptr);
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::segment_softmax(x.device().stream(), contiguous(x.data()), ptr, out);
  return record("segment_softmax", {x}, out, {.outputs = autograd::kAll},
                [ptr](const RuleContext& c) -> Variables {
                  return {softmax_gradient(c.output(), c.grad(), ptr)};
                });
}

Variable segment_broadcast(const Variable& y, const Tensor& ptr, std::int64_t rows) {
  check_rows("segment_broadcast", y);
  check_same_device({&y.data(), &ptr});
  check<ShapeError>(ptr.numel() == y.size(0) + 1, "segment_broadcast: y has ", y.size(0),
                    " rows, and ptr ", ptr.numel(), " entries instead of ", y.size(0) + 1);
  kernels::check_ptr(ptr.device().stream(), ptr, rows, "segment_broadcast", "ptr");
  return broadcast(y, ptr, rows, SegmentScale::none);
}

}  // namespace moiety::ops

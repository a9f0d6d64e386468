// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/gather.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/gather.h"
#include "kernels/index_check.h"

namespace moiety::ops {
namespace {

using autograd::record;
using autograd::RuleContext;

void check_transposed_index(const char* name, const Tensor& x, const Tensor& index,
                            const Tensor& ptr, const Tensor& order, std::int64_t rows) {
  check_same_device({&x, &index, &ptr, &order});
  check<ShapeError>(index.ndim() == 1 && order.shape() == index.shape(), name, ": index has shape ",
                    index.shape(), " and order ", order.shape(), "; both must be [E]");
  check<ShapeError>(ptr.numel() == rows + 1, name, ": ptr has ", ptr.numel(), " entries for ", rows,
                    " rows, must have ", rows + 1);
  const Stream& stream = x.device().stream();
  const std::int64_t entries = index.numel();
  kernels::check_ptr(stream, ptr, entries, name, "ptr");
  kernels::check_index(stream, index, rows, name, "index");
  kernels::check_index(stream, order, entries, name, "order");
}

// The index tensors are known to fit from here on. Each is the other's rule.

Variable sum_rows(const Variable& values, const Tensor& index, const Tensor& ptr,
                  const Tensor& order);

Variable pick_rows(const Variable& x, const Tensor& index, const Tensor& ptr, const Tensor& order) {
  Tensor out = Tensor::empty({index.numel(), x.size(1)}, x.dtype(), x.device());
  kernels::gather(x.device().stream(), contiguous(x.data()), index, out);
  return record("gather", {x}, out, {}, [index, ptr, order](const RuleContext& c) -> Variables {
    return {sum_rows(c.grad(), index, ptr, order)};
  });
}

Variable sum_rows(const Variable& values, const Tensor& index, const Tensor& ptr,
                  const Tensor& order) {
  Tensor out = Tensor::empty({ptr.numel() - 1, values.size(1)}, values.dtype(), values.device());
  kernels::scatter_sum(values.device().stream(), contiguous(values.data()), ptr, order, out);
  return record("scatter_sum", {values}, out, {},
                [index, ptr, order](const RuleContext& c) -> Variables {
                  return {pick_rows(c.grad(), index, ptr, order)};
                });
}

Variable embed(const Variable& table, const Tensor& index, const std::vector<std::int32_t>& dims);

/// The adjoint of embed: grad [N, C] -> [sum(dims), C].
Variable embed_adjoint(const Variable& grad, const Tensor& index,
                       const std::vector<std::int32_t>& dims, std::int64_t table_rows) {
  Tensor out = Tensor::empty({table_rows, grad.size(1)}, grad.dtype(), grad.device());
  kernels::embedding_sum_backward(grad.device().stream(), contiguous(grad.data()), index, dims,
                                  out);
  return record(
      "embedding_sum_backward", {grad}, out, {},
      [index, dims](const RuleContext& c) -> Variables { return {embed(c.grad(), index, dims)}; });
}

Variable embed(const Variable& table, const Tensor& index, const std::vector<std::int32_t>& dims) {
  Tensor out = Tensor::empty({index.size(0), table.size(1)}, table.dtype(), table.device());
  kernels::embedding_sum(table.device().stream(), contiguous(table.data()), index, dims, out);
  return record("embedding_sum", {table}, out, {},
                [index, dims](const RuleContext& c) -> Variables {
                  return {embed_adjoint(c.grad(), index, dims, c.input_shape(0)[0])};
                });
}

}  // namespace

Variable gather(const Variable& x, const Tensor& index, const Tensor& ptr, const Tensor& order) {
  check<ShapeError>(x.ndim() == 2, "gather: x must be [N, C], not ", x.shape());
  check_transposed_index("gather", x.data(), index, ptr, order, x.size(0));
  return pick_rows(x, index, ptr, order);
}

Variable scatter_sum(const Variable& values, const Tensor& index, const Tensor& ptr,
                     const Tensor& order) {
  check<ShapeError>(values.ndim() == 2 && index.ndim() == 1 && values.size(0) == index.numel(),
                    "scatter_sum: values must be [E, C] and index [E], not ", values.shape(),
                    " and ", index.shape());
  check<ShapeError>(ptr.numel() >= 1, "scatter_sum: ptr must be [N+1], not ", ptr.shape());
  check_transposed_index("scatter_sum", values.data(), index, ptr, order, ptr.numel() - 1);
  return sum_rows(values, index, ptr, order);
}

Variable embedding_sum(const Variable& table, const Tensor& index,
                       const std::vector<std::int32_t>& dims) {
  std::int64_t rows = 0;
  for (std::int32_t dim : dims) {
    check<ShapeError>(dim >= 0, "embedding_sum: a feature cannot have ", dim, " values");
    rows += dim;
  }
  check<ShapeError>(table.ndim() == 2 && table.size(0) == rows,
                    "embedding_sum: the table must be [", rows, ", C], not ", table.shape());
  check<ShapeError>(index.ndim() == 2 && index.size(1) == static_cast<std::int64_t>(dims.size()),
                    "embedding_sum: index must be [N, ", dims.size(), "], not ", index.shape());
  check_same_device({&table.data(), &index});
  return embed(table, contiguous(index), dims);
}

}  // namespace moiety::ops

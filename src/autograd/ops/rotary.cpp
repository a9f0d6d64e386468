// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/rotary.h"

#include <cmath>
#include <vector>

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/index_check.h"
#include "kernels/norm.h"
#include "kernels/rotary.h"

namespace moiety::ops {
namespace {

/// Turns by the angles or back: each is the other's adjoint.
Variable turn(const Variable& x, const Tensor& positions, const Tensor& table, bool back) {
  const bool dense = x.size(2) <= 1 || x.data().strides()[2] == 1;
  const Tensor from = dense ? x.data() : contiguous(x.data());
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::rotary(x.device().stream(), back, from, positions, table, out);
  return autograd::record("rotary", {x}, out, {},
                          [positions, table, back](const autograd::RuleContext& c) -> Variables {
                            return {turn(c.grad(), positions, table, !back)};
                          });
}

}  // namespace

Tensor rotary_table(std::int64_t positions, std::int64_t head_size, double base, DType dtype,
                    Device& device) {
  check<ShapeError>(head_size > 0 && head_size % 2 == 0, "rotary: heads of size ", head_size,
                    "; their size must be even");
  std::vector<double> values(static_cast<std::size_t>(positions * head_size));
  const std::int64_t half = head_size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double speed = std::pow(base, -2.0 * static_cast<double>(i) / head_size);
    for (std::int64_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * speed;
      values[static_cast<std::size_t>(p * head_size + i)] = std::cos(angle);
      values[static_cast<std::size_t>(p * head_size + half + i)] = std::sin(angle);
    }
  }
  const Shape shape{positions, head_size};
  if (kernels::statistics_dtype(dtype) == DType::f64) return Tensor::from(values, shape, device);
  return Tensor::from(std::vector<float>(values.begin(), values.end()), shape, device);
}

Variable rotary(const Variable& x, const Tensor& positions, const Tensor& table) {
  check<ShapeError>(x.ndim() == 3, "rotary: ", x.shape(), " is not [tokens, heads, head size]");
  check_same_device({&x.data(), &positions, &table});
  check<DTypeError>(table.dtype() == kernels::statistics_dtype(x.dtype()), "rotary: a table in ",
                    table.dtype(), " for x in ", x.dtype());
  kernels::check_index(x.device().stream(), positions, table.size(0), "rotary", "positions");
  return turn(x, positions, table, false);
}

}  // namespace moiety::ops

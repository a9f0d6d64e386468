// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/cross_entropy.h"

#include <algorithm>

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "kernels/cross_entropy.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/reduce.h"

namespace moiety::ops {
namespace {

using autograd::RuleContext;

/// Rows whose scores exist at a time: products of so many are as fast as of all.
constexpr std::int64_t kRowsAtATime = 512;

Tensor sum_of(const Tensor& losses) {
  Tensor out = Tensor::empty({}, losses.dtype(), losses.device());
  kernels::sum(losses.device().stream(), 1.0, losses.reshape({1, losses.numel(), 1}),
               out.reshape({1, 1}));
  return out;
}

void check_target(const Tensor& rows, const Tensor& target) {
  check<ShapeError>(rows.ndim() == 2 && target.shape() == Shape({rows.size(0)}),
                    "cross_entropy: targets ", target.shape(), " for rows ", rows.shape());
  check<DTypeError>(target.dtype() == DType::i32, "cross_entropy: targets of ",
                    name_of(target.dtype()), "; they are i32");
  check_same_device({&rows, &target});
}

void refuse_second_derivative() {
  check(!autograd::grad_enabled(), "cross_entropy has no second derivative");
}

/// Gradients of x, weight and bias, as far as they are wanted; filled chunk by chunk.
struct LinearGrads {
  Tensor x;
  Tensor weight;
  Tensor bias;
};

Tensor zeros_if(bool wanted, const Tensor& like) {
  return wanted ? Tensor::zeros(like.shape(), like.dtype(), like.device()) : Tensor();
}

/// Adds the part of some rows, from the gradients of their scores.
void add_rows(const Tensor& x, const Tensor& weight, const Tensor& dscores, std::int64_t begin,
              std::int64_t end, const LinearGrads& grads) {
  const Stream& stream = x.device().stream();
  const double keep = begin == 0 ? 0.0 : 1.0;
  if (grads.x.defined()) {
    kernels::gemm(stream, false, false, 1.0, dscores, weight, 0.0, grads.x.slice(0, begin, end));
  }
  if (grads.weight.defined()) {
    kernels::gemm(stream, true, false, 1.0, dscores, x.slice(0, begin, end), keep, grads.weight);
  }
  if (grads.bias.defined()) {
    const Tensor column_sums = Tensor::empty(grads.bias.shape(), x.dtype(), x.device());
    kernels::sum(stream, 1.0, dscores.reshape({1, dscores.size(0), dscores.size(1)}),
                 column_sums.reshape({1, column_sums.numel()}));
    kernels::accumulate(stream, column_sums, grads.bias);
  }
}

}  // namespace

Variable cross_entropy(const Variable& scores, const Tensor& target) {
  check_target(scores.data(), target);
  const Tensor rows = contiguous(scores.data());
  const Tensor losses =
      Tensor::empty({rows.size(0)}, kernels::statistics_dtype(rows.dtype()), rows.device());
  const bool wanted = autograd::grad_enabled() && scores.requires_grad();
  const Tensor slope = wanted ? Tensor::empty(rows.shape(), rows.dtype(), rows.device()) : Tensor();
  kernels::cross_entropy(rows.device().stream(), rows, target, losses, view_or_none(slope));
  return autograd::record("cross_entropy", {scores}, sum_of(losses), {},
                          [slope](const RuleContext& c) -> Variables {
                            refuse_second_derivative();
                            return {mul(Variable(slope), cast(c.grad(), slope.dtype()))};
                          });
}

Variable linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                              const Tensor& target) {
  check_target(x.data(), target);
  const Tensor rows = contiguous(x.data());
  const Tensor matrix = contiguous(weight.data());
  check<ShapeError>(matrix.ndim() == 2 && matrix.size(1) == rows.size(1), "cross_entropy: rows ",
                    rows.shape(), " and a weight ", matrix.shape());
  check_same_device({&rows, &matrix, &target});
  const Stream& stream = rows.device().stream();
  const bool records = autograd::grad_enabled();
  const LinearGrads grads{
      zeros_if(records && x.requires_grad(), rows),
      zeros_if(records && weight.requires_grad(), matrix),
      bias.defined() ? zeros_if(records && bias.requires_grad(), bias.data()) : Tensor()};
  const std::int64_t count = rows.size(0);
  const Tensor losses =
      Tensor::empty({count}, kernels::statistics_dtype(rows.dtype()), rows.device());
  const Tensor scores =
      Tensor::empty({std::min(count, kRowsAtATime), matrix.size(0)}, rows.dtype(), rows.device());
  for (std::int64_t begin = 0; begin < count; begin += kRowsAtATime) {
    const std::int64_t end = std::min(count, begin + kRowsAtATime);
    const Tensor part = scores.slice(0, 0, end - begin);
    kernels::linear(stream, rows.slice(0, begin, end), matrix,
                    bias.defined() ? bias.data().view() : TensorView{}, /*relu=*/false, part);
    kernels::cross_entropy(stream, part, target.slice(0, begin, end), losses.slice(0, begin, end),
                           records ? part.view() : TensorView{});
    if (records) add_rows(rows, matrix, part, begin, end, grads);
  }
  Variables inputs = {x, weight};
  if (bias.defined()) inputs.push_back(bias);
  return autograd::record("linear_cross_entropy", inputs, sum_of(losses), {},
                          [grads, has_bias = bias.defined()](const RuleContext& c) -> Variables {
                            refuse_second_derivative();
                            const auto scaled = [&](const Tensor& t) {
                              return t.defined() ? mul(Variable(t), cast(c.grad(), t.dtype()))
                                                 : Variable();
                            };
                            Variables out = {scaled(grads.x), scaled(grads.weight)};
                            if (has_bias) out.push_back(scaled(grads.bias));
                            return out;
                          });
}

}  // namespace moiety::ops

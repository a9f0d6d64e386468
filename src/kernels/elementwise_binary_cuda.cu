// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/elementwise.h"

namespace moiety::kernels::cuda {
namespace {

/// Maximum and minimum keep a NaN of either side.
template <BinaryOp kOp>
struct Function {
  template <class C>
  __device__ C operator()(C a, C b) const {
    if constexpr (kOp == BinaryOp::add) return a + b;
    if constexpr (kOp == BinaryOp::sub) return a - b;
    if constexpr (kOp == BinaryOp::mul) return a * b;
    if constexpr (kOp == BinaryOp::div) return a / b;
    if constexpr (kOp == BinaryOp::maximum) return a < b || b != b ? b : a;
    if constexpr (kOp == BinaryOp::minimum) return a > b || b != b ? b : a;
    if constexpr (kOp == BinaryOp::greater_equal) return a >= b ? C{1} : C{0};
  }
};

/// Calls visit.template operator()<op>().
template <class Visit>
void visit_binary(BinaryOp op, const Visit& visit) {
  switch (op) {
    case BinaryOp::add:
      return visit.template operator()<BinaryOp::add>();
    case BinaryOp::sub:
      return visit.template operator()<BinaryOp::sub>();
    case BinaryOp::mul:
      return visit.template operator()<BinaryOp::mul>();
    case BinaryOp::div:
      return visit.template operator()<BinaryOp::div>();
    case BinaryOp::maximum:
      return visit.template operator()<BinaryOp::maximum>();
    case BinaryOp::minimum:
      return visit.template operator()<BinaryOp::minimum>();
    case BinaryOp::greater_equal:
      return visit.template operator()<BinaryOp::greater_equal>();
  }
  throw Error("unknown element-wise operation");
}

}  // namespace

void binary(const Stream& stream, BinaryOp op, const TensorView& a, const TensorView& b,
            const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "binary: strided output");
  visit_floating(out.dtype, [&]<class T>() {
    visit_binary(op, [&]<BinaryOp kOp>() {
      map<Pack, T, 2>(stream, out, {&a, &b}, Function<kOp>{});
    });
  });
}

void accumulate(const Stream& stream, const TensorView& from, const TensorView& into) {
  MOIETY_CHECK(from.shape == into.shape, "accumulate: ", from.shape, " into ", into.shape);
  cuda::binary(stream, BinaryOp::add, into, from, into);
}

}  // namespace moiety::kernels::cuda

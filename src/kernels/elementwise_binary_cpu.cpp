// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_float_runs.h"
#include "kernels/elementwise.h"

namespace moiety::kernels::cpu {
namespace {

/// One run of elements. The three fast cases cover equal shapes, scalars, and rows [C] or columns
/// [N, 1] against [N, C].
template <class F, class T>
[[gnu::noinline]] void run(F f, const T* a, std::int64_t stride_a, const T* b,
                           std::int64_t stride_b, T* y, std::int64_t count) {
  if (stride_a == 1 && stride_b == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(a[i], b[i]);
  } else if (stride_a == 1 && stride_b == 0) {
    const T right = *b;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(a[i], right);
  } else if (stride_a == 0 && stride_b == 1) {
    const T left = *a;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(left, b[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(a[i * stride_a], b[i * stride_b]);
  }
}

/// Calls visit(f) with f(a, b). Maximum and minimum keep a NaN of either side.
template <class T, class Visit>
void visit_binary(BinaryOp op, const Visit& visit) {
  switch (op) {
    case BinaryOp::add:
      return visit([](T a, T b) { return a + b; });
    case BinaryOp::sub:
      return visit([](T a, T b) { return a - b; });
    case BinaryOp::mul:
      return visit([](T a, T b) { return a * b; });
    case BinaryOp::div:
      return visit([](T a, T b) { return a / b; });
    case BinaryOp::maximum:
      return visit([](T a, T b) { return (a < b) | (b != b) ? b : a; });
    case BinaryOp::minimum:
      return visit([](T a, T b) { return (a > b) | (b != b) ? b : a; });
    case BinaryOp::greater_equal:
      return visit([](T a, T b) { return a >= b ? T(1) : T(0); });
  }
  throw Error("unknown element-wise operation");
}

}  // namespace

void binary(const Stream& stream, BinaryOp op, const TensorView& a, const TensorView& b,
            const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "binary: strided output");
  const LoopNest<2> nest(out.shape, {&a, &b});
  visit_compute(out.dtype, [&]<class T> {
    visit_binary<T>(op, [&](const auto& f) {
      for_each_float_run<T, 2>(stream, nest, {&a, &b}, out,
                               [&](const auto& in, const auto& stride, T* to, std::int64_t count) {
                                 run(f, in[0], stride[0], in[1], stride[1], to, count);
                               });
    });
  });
}

}  // namespace moiety::kernels::cpu

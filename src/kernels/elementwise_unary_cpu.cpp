// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_float_runs.h"
#include "kernels/cpu_math.h"
#include "kernels/elementwise.h"

namespace moiety::kernels::cpu {
namespace {

constexpr double kInvSqrt2Pi = 0.398942280401432677939946;
constexpr double kGeluSlope = 1.59576912160573071175978;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;

// One copy of each loop, with arguments by value: inlined into the several places that call it, the
// compiler gives up on vectorising some.
template <class F, class T>
[[gnu::noinline]] void run(F f, const T* x, std::int64_t stride, T* y, std::int64_t count) {
  if (stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i * stride]);
  }
}

template <class F, class T>
[[gnu::noinline]] void run_grad(F f, const T* saved, std::int64_t saved_stride, const T* grad,
                                std::int64_t grad_stride, T* y, std::int64_t count) {
  if (saved_stride == 1 && grad_stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(saved[i], grad[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      y[i] = f(saved[i * saved_stride], grad[i * grad_stride]);
    }
  }
}

/// Calls visit(f) with the function f(x) of an operation.
template <class T, class Visit>
void visit_unary(UnaryOp op, const Visit& visit) {
  switch (op) {
    case UnaryOp::abs:
      return visit([](T x) { return std::fabs(x); });
    case UnaryOp::square:
      return visit([](T x) { return x * x; });
    case UnaryOp::sqrt:
      return visit([](T x) { return std::sqrt(x); });
    case UnaryOp::exp:
      return visit([](T x) { return math::exp(x); });
    case UnaryOp::log:
      return visit([](T x) { return math::log(x); });
    case UnaryOp::sin:
      return visit([](T x) { return std::sin(x); });
    case UnaryOp::cos:
      return visit([](T x) { return std::cos(x); });
    case UnaryOp::relu:
      return visit([](T x) { return x < T(0) ? T(0) : x; });  // NaN stays
    case UnaryOp::sigmoid:
      return visit([](T x) { return math::sigmoid(x); });
    case UnaryOp::tanh:
      return visit([](T x) { return math::tanh(x); });
    case UnaryOp::silu:
      return visit([](T x) { return x * math::sigmoid(x); });
    case UnaryOp::gelu:
      return visit([](T x) { return x * math::normal_cdf(x); });
    case UnaryOp::gelu_tanh:  // (1 + tanh(u)) / 2 is the sigmoid of 2 u
      return visit([](T x) {
        return x * math::sigmoid(T(kGeluSlope) * x * (T(1) + T(kGeluCubic) * x * x));
      });
    case UnaryOp::softplus:
      return visit(
          [](T x) { return (x < T(0) ? T(0) : x) + math::log1p(math::exp(-std::fabs(x))); });
    case UnaryOp::normal_cdf:
      return visit([](T x) { return math::normal_cdf(x); });
    case UnaryOp::step:
      return visit([](T x) { return x > T(0) ? T(1) : T(0); });
    case UnaryOp::sign:
      return visit([](T x) { return (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0)); });
  }
  throw Error("unknown element-wise operation");
}

/// Calls visit(f) with f(saved, grad).
template <class T, class Visit>
void visit_unary_grad(UnaryOp op, const Visit& visit) {
  switch (op) {
    case UnaryOp::sqrt:
      return visit([](T y, T g) { return T(0.5) * g / y; });
    case UnaryOp::exp:
      return visit([](T y, T g) { return g * y; });
    case UnaryOp::relu:
      return visit([](T y, T g) { return y > T(0) ? g : T(0); });
    case UnaryOp::sigmoid:
      return visit([](T y, T g) { return g * y * (T(1) - y); });
    case UnaryOp::tanh:
      return visit([](T y, T g) { return g * (T(1) - y * y); });
    case UnaryOp::silu:
      return visit([](T x, T g) {
        const T s = math::sigmoid(x);
        return g * s * (T(1) + x * (T(1) - s));
      });
    case UnaryOp::gelu:
      return visit([](T x, T g) {
        return g * (math::normal_cdf(x) + x * T(kInvSqrt2Pi) * math::exp(T(-0.5) * x * x));
      });
    case UnaryOp::gelu_tanh:
      return visit([](T x, T g) {
        const T square = T(kGeluCubic) * x * x;
        const T s = math::sigmoid(T(kGeluSlope) * x * (T(1) + square));
        const T slope = T(kGeluSlope) * (T(1) + T(3) * square);
        return g * s * (T(1) + x * (T(1) - s) * slope);
      });
    case UnaryOp::softplus:
      return visit([](T x, T g) { return g * math::sigmoid(x); });
    default:
      throw Error("this element-wise operation has no fused gradient");
  }
}

}  // namespace

void unary(const Stream& stream, UnaryOp op, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && out.contiguous(), "unary: ", x.shape, " to ", out.shape);
  const LoopNest<1> nest(out.shape, {&x});
  visit_compute(out.dtype, [&]<class T> {
    visit_unary<T>(op, [&](const auto& f) {
      for_each_float_run<T, 1>(stream, nest, {&x}, out,
                               [&](const auto& in, const auto& stride, T* to, std::int64_t count) {
                                 run(f, in[0], stride[0], to, count);
                               });
    });
  });
}

void unary_grad(const Stream& stream, UnaryOp op, const TensorView& saved, const TensorView& grad,
                const TensorView& out) {
  MOIETY_CHECK(saved.shape == out.shape && grad.shape == out.shape && out.contiguous(),
               "unary_grad: ", saved.shape, " and ", grad.shape, " to ", out.shape);
  const LoopNest<2> nest(out.shape, {&saved, &grad});
  visit_compute(out.dtype, [&]<class T> {
    visit_unary_grad<T>(op, [&](const auto& f) {
      for_each_float_run<T, 2>(stream, nest, {&saved, &grad}, out,
                               [&](const auto& in, const auto& stride, T* to, std::int64_t count) {
                                 run_grad(f, in[0], stride[0], in[1], stride[1], to, count);
                               });
    });
  });
}

}  // namespace moiety::kernels::cpu

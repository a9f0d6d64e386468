// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cuda/map.cuh"
#include "kernels/cuda/sine.cuh"
#include "kernels/elementwise.h"

namespace moiety::kernels::cuda {
namespace {

template <class C>
__device__ C sigmoid_of(C x) {
  return C{1} / (C{1} + std::exp(-x));
}

/// The distribution function of the normal distribution.
template <class C>
__device__ C normal_cdf_of(C x) {
  constexpr double kInvSqrt2 = 0.707106781186547524401;
  return C(0.5) * std::erfc(-x * C(kInvSqrt2));
}

// Of the approximate GELU: (1 + tanh(u)) / 2 is the sigmoid of 2 u.
constexpr double kGeluSlope = 1.59576912160573071175978;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;

template <UnaryOp kOp>
struct Function {
  template <class C>
  __device__ C operator()(C x) const {
    if constexpr (kOp == UnaryOp::abs) return std::fabs(x);
    if constexpr (kOp == UnaryOp::square) return x * x;
    if constexpr (kOp == UnaryOp::sqrt) return std::sqrt(x);
    if constexpr (kOp == UnaryOp::exp) return std::exp(x);
    if constexpr (kOp == UnaryOp::log) return std::log(x);
    if constexpr (kOp == UnaryOp::sin) return sin_of(x);
    if constexpr (kOp == UnaryOp::cos) return cos_of(x);
    if constexpr (kOp == UnaryOp::relu) return x < C{0} ? C{0} : x;  // NaN stays
    if constexpr (kOp == UnaryOp::sigmoid) return sigmoid_of(x);
    if constexpr (kOp == UnaryOp::tanh) return std::tanh(x);
    if constexpr (kOp == UnaryOp::silu) return x * sigmoid_of(x);
    if constexpr (kOp == UnaryOp::gelu) return x * normal_cdf_of(x);
    if constexpr (kOp == UnaryOp::gelu_tanh) {
      return x * sigmoid_of(C(kGeluSlope) * x * (C{1} + C(kGeluCubic) * x * x));
    }
    if constexpr (kOp == UnaryOp::softplus) {
      return (x < C{0} ? C{0} : x) + std::log1p(std::exp(-std::fabs(x)));
    }
    if constexpr (kOp == UnaryOp::normal_cdf) return normal_cdf_of(x);
    if constexpr (kOp == UnaryOp::step) return x > C{0} ? C{1} : C{0};
    if constexpr (kOp == UnaryOp::sign) return (x > C{0} ? C{1} : C{0}) - (x < C{0} ? C{1} : C{0});
  }
};

/// The gradient from what was saved of the operation and from the gradient of its output.
template <UnaryOp kOp>
struct Gradient {
  template <class C>
  __device__ C operator()(C saved, C g) const {
    if constexpr (kOp == UnaryOp::sqrt) return C(0.5) * g / saved;
    if constexpr (kOp == UnaryOp::exp) return g * saved;
    if constexpr (kOp == UnaryOp::relu) return saved > C{0} ? g : C{0};
    if constexpr (kOp == UnaryOp::sigmoid) return g * saved * (C{1} - saved);
    if constexpr (kOp == UnaryOp::tanh) return g * (C{1} - saved * saved);
    if constexpr (kOp == UnaryOp::silu) {
      const C s = sigmoid_of(saved);
      return g * s * (C{1} + saved * (C{1} - s));
    }
    if constexpr (kOp == UnaryOp::gelu) {
      constexpr double kInvSqrt2Pi = 0.398942280401432677939946;
      const C density = C(kInvSqrt2Pi) * std::exp(C(-0.5) * saved * saved);
      return g * (normal_cdf_of(saved) + saved * density);
    }
    if constexpr (kOp == UnaryOp::gelu_tanh) {
      const C square = C(kGeluCubic) * saved * saved;
      const C s = sigmoid_of(C(kGeluSlope) * saved * (C{1} + square));
      const C slope = C(kGeluSlope) * (C{1} + C{3} * square);
      return g * s * (C{1} + saved * (C{1} - s) * slope);
    }
    if constexpr (kOp == UnaryOp::softplus) return g * sigmoid_of(saved);
  }
};

/// Calls visit.template operator()<op>().
template <class Visit>
void visit_unary(UnaryOp op, const Visit& visit) {
  switch (op) {
    case UnaryOp::abs:
      return visit.template operator()<UnaryOp::abs>();
    case UnaryOp::square:
      return visit.template operator()<UnaryOp::square>();
    case UnaryOp::sqrt:
      return visit.template operator()<UnaryOp::sqrt>();
    case UnaryOp::exp:
      return visit.template operator()<UnaryOp::exp>();
    case UnaryOp::log:
      return visit.template operator()<UnaryOp::log>();
    case UnaryOp::sin:
      return visit.template operator()<UnaryOp::sin>();
    case UnaryOp::cos:
      return visit.template operator()<UnaryOp::cos>();
    case UnaryOp::relu:
      return visit.template operator()<UnaryOp::relu>();
    case UnaryOp::sigmoid:
      return visit.template operator()<UnaryOp::sigmoid>();
    case UnaryOp::tanh:
      return visit.template operator()<UnaryOp::tanh>();
    case UnaryOp::silu:
      return visit.template operator()<UnaryOp::silu>();
    case UnaryOp::gelu:
      return visit.template operator()<UnaryOp::gelu>();
    case UnaryOp::gelu_tanh:
      return visit.template operator()<UnaryOp::gelu_tanh>();
    case UnaryOp::softplus:
      return visit.template operator()<UnaryOp::softplus>();
    case UnaryOp::normal_cdf:
      return visit.template operator()<UnaryOp::normal_cdf>();
    case UnaryOp::step:
      return visit.template operator()<UnaryOp::step>();
    case UnaryOp::sign:
      return visit.template operator()<UnaryOp::sign>();
  }
  throw Error("unknown element-wise operation");
}

/// The same for the operations that have a fused gradient.
template <class Visit>
void visit_unary_grad(UnaryOp op, const Visit& visit) {
  switch (op) {
    case UnaryOp::sqrt:
      return visit.template operator()<UnaryOp::sqrt>();
    case UnaryOp::exp:
      return visit.template operator()<UnaryOp::exp>();
    case UnaryOp::relu:
      return visit.template operator()<UnaryOp::relu>();
    case UnaryOp::sigmoid:
      return visit.template operator()<UnaryOp::sigmoid>();
    case UnaryOp::tanh:
      return visit.template operator()<UnaryOp::tanh>();
    case UnaryOp::silu:
      return visit.template operator()<UnaryOp::silu>();
    case UnaryOp::gelu:
      return visit.template operator()<UnaryOp::gelu>();
    case UnaryOp::gelu_tanh:
      return visit.template operator()<UnaryOp::gelu_tanh>();
    case UnaryOp::softplus:
      return visit.template operator()<UnaryOp::softplus>();
    default:
      throw Error("this element-wise operation has no fused gradient");
  }
}

}  // namespace

void unary(const Stream& stream, UnaryOp op, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && out.contiguous(), "unary: ", x.shape, " to ", out.shape);
  visit_floating(out.dtype, [&]<class T>() {
    visit_unary(op, [&]<UnaryOp kOp>() { map<Pack, T, 1>(stream, out, {&x}, Function<kOp>{}); });
  });
}

void unary_grad(const Stream& stream, UnaryOp op, const TensorView& saved, const TensorView& grad,
                const TensorView& out) {
  MOIETY_CHECK(saved.shape == out.shape && grad.shape == out.shape && out.contiguous(),
               "unary_grad: ", saved.shape, " and ", grad.shape, " to ", out.shape);
  visit_floating(out.dtype, [&]<class T>() {
    visit_unary_grad(op, [&]<UnaryOp kOp>() {
      map<Pack, T, 2>(stream, out, {&saved, &grad}, Gradient<kOp>{});
    });
  });
}

}  // namespace moiety::kernels::cuda

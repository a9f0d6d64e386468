// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "kernels/cuda/simt.cuh"

// Softmax in one pass. For .cu files alone.
namespace moiety::kernels::cuda {

/// The largest of some x, and the sum of exp(x - largest). As when the two are computed one after
/// the other, -infinity adds nothing, and the sum over a NaN or over +infinity is NaN.
template <class F>
struct RunningSoftmax {
  F top;
  F total;

  __device__ void take(F x) {
    if (x == -static_cast<F>(INFINITY)) return;
    const F smaller = std::exp(-std::fabs(x - top));
    if (x > top) {
      total = total * smaller + (F{1} + (x - x));  // x - x is NaN for infinity
      top = x;
    } else {
      total += smaller;
    }
  }
};

struct JoinSoftmax {
  template <class Value>
  __device__ static Value identity() {
    return {static_cast<decltype(Value::top)>(-INFINITY), 0};
  }
  template <class F>
  __device__ RunningSoftmax<F> operator()(const RunningSoftmax<F>& a,
                                          const RunningSoftmax<F>& b) const {
    if (b.total == F{0}) return a;  // of nothing, or of -infinity alone
    if (a.total == F{0}) return b;
    const F top = a.top > b.top ? a.top : b.top;
    return {top, a.total * std::exp(a.top - top) + b.total * std::exp(b.top - top)};
  }
};

}  // namespace moiety::kernels::cuda

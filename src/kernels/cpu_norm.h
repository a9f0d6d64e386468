// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/norm.h"

// What both norms share on a CPU.
namespace moiety::kernels::cpu {

inline void check_norm_rows(const TensorView& x, std::initializer_list<const TensorView*> others) {
  MOIETY_CHECK(x.ndim() == 2 && x.contiguous(), "norm: ", x.shape);
  for (const TensorView* other : others) {
    MOIETY_CHECK(!other->defined() || (other->shape == x.shape && other->contiguous()),
                 "norm: ", x.shape, " and ", other->shape);
  }
}

/// Views that are optional may be undefined.
inline void check_norm_vectors(std::int64_t n, std::initializer_list<const TensorView*> vectors) {
  for (const TensorView* v : vectors) {
    MOIETY_CHECK(!v->defined() || (v->shape == Shape({n}) && v->contiguous()), "norm: ", v->shape,
                 " for ", n);
  }
}

/// Calls f.template operator()<kRelu, kResidual>().
template <class F>
void visit_tail(const NormTail& tail, const F& f) {
  if (tail.residual.defined()) {
    tail.relu ? f.template operator()<true, true>() : f.template operator()<false, true>();
  } else {
    tail.relu ? f.template operator()<true, false>() : f.template operator()<false, false>();
  }
}

/// residual[at] + relu(z), of which the template leaves out what is absent. NaN stays.
template <bool kRelu, bool kResidual, class T>
T apply_tail(T z, const T* residual, std::int64_t at) {
  if constexpr (kRelu) z = z < T(0) ? T(0) : z;
  if constexpr (kResidual) z += residual[at];
  return z;
}

}  // namespace moiety::kernels::cpu

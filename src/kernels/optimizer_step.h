// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <span>

#include "kernels/optimizer.h"

// What the bodies of the optimizers share on all devices.
namespace moiety::kernels {

/// Throws ShapeError for an array that is not as long as the parameters.
inline void check_lengths(const char* name, const TensorView& parameters,
                          std::initializer_list<const TensorView*> others) {
  for (const TensorView* other : others) {
    check<ShapeError>(other->numel() == parameters.numel(), name, ": an array of ", other->numel(),
                      " elements for ", parameters.numel(), " parameters");
    MOIETY_CHECK(other->contiguous() && parameters.contiguous());
  }
}

/// Throws ShapeError for ranges that are not ascending, disjoint and within `size` elements.
inline void check_ranges(const char* name, std::span<const DecayRange> decay, std::int64_t size) {
  std::int64_t last = 0;
  for (const DecayRange& range : decay) {
    check<ShapeError>(last <= range.begin && range.begin <= range.end && range.end <= size, name,
                      ": decay range [", range.begin, ", ", range.end,
                      ") is out of order or beyond the ", size, " parameters");
    last = range.end;
  }
}

/// The constants of one step, in the precision T of the parameters.
template <class T>
struct AdamFactors {
  T gradient_scale, beta1, beta2, one_minus_beta1, one_minus_beta2, rate, root_correction, eps;

  explicit AdamFactors(const AdamStep& step)
      : gradient_scale(static_cast<T>(step.gradient_scale)),
        beta1(static_cast<T>(step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        one_minus_beta1(static_cast<T>(1 - step.beta1)),
        one_minus_beta2(static_cast<T>(1 - step.beta2)),
        rate(static_cast<T>(step.lr / (1 - std::pow(step.beta1, step.number)))),
        root_correction(static_cast<T>(1 / std::sqrt(1 - std::pow(step.beta2, step.number)))),
        eps(static_cast<T>(step.eps)) {}
};

}  // namespace moiety::kernels

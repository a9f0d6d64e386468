// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
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

/// The decision in a tensor's memory. Throws ShapeError for a tensor of another kind.
inline StepDecision* decision_in(const TensorView& view) {
  check<ShapeError>(view.numel() == kDecisionSize && view.contiguous(), "a step's decision has ",
                    kDecisionSize, " elements, not ", view.shape);
  return reinterpret_cast<StepDecision*>(view.as<double>());
}

/// One number in a tensor's memory. Throws ShapeError for more or fewer.
inline const double* number_in(const TensorView& view) {
  check<ShapeError>(view.numel() == 1, "expected one number, not a tensor of shape ", view.shape);
  return view.as<double>();
}

constexpr double loss_scale_of(const StepDecision& step) {
  return step.loss_scale > 0 ? step.loss_scale : 1.0;
}

/// The loss scale after a step; within bounds that are far from where f32 ends.
constexpr void adapt_loss_scale(const StepRule& rule, bool usable, StepDecision& step) {
  constexpr double kLeast = 1.0;
  constexpr double kMost = 0x1p24;
  const double scale = loss_scale_of(step);
  step.good_steps = usable ? step.good_steps + 1 : 0;
  if (!usable) {
    step.loss_scale = scale / 2 > kLeast ? scale / 2 : kLeast;
  } else if (step.good_steps >= rule.loss_scale_interval) {
    step.loss_scale = 2 * scale < kMost ? 2 * scale : kMost;
    step.good_steps = 0;
  }
}

/// begin_step, on any device.
constexpr void decide(const StepRule& rule, double lr, StepDecision& step) {
  const bool scaled = rule.loss_scale_interval > 0;
  const double loss_scale = scaled ? loss_scale_of(step) : 1.0;
  step.squared_norm /= loss_scale * loss_scale;
  const double norm = std::sqrt(step.squared_norm);
  const double scale = rule.clip_norm > 0 && norm > rule.clip_norm ? rule.clip_norm / norm : 1.0;
  const bool usable = norm <= std::numeric_limits<double>::max() &&
                      step.squared_norm * scale * scale <= rule.largest_square;
  step.usable = usable ? 1 : 0;
  step.lr = lr;
  step.gradient_scale = scale / loss_scale;
  step.skipped += usable ? 0 : 1;
  if (usable) {
    step.skipped_in_a_row = 0;
  } else if (loss_scale <= 1) {
    step.skipped_in_a_row += 1;
  }
  step.steps += usable ? 1 : 0;
  const double t = step.steps;
  step.first_rate = lr / (1 - std::pow(rule.beta1, t));
  step.second_correction = 1 / std::sqrt(1 - std::pow(rule.beta2, t));
  if (scaled) adapt_loss_scale(rule, usable, step);
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

  /// Takes what a decision says of this step.
  constexpr void follow(const StepDecision& decision) {
    gradient_scale = static_cast<T>(decision.gradient_scale);
    rate = static_cast<T>(decision.first_rate);
    root_correction = static_cast<T>(decision.second_correction);
  }
};

}  // namespace moiety::kernels

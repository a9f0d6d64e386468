// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tensor/stream.h"
#include "tensor/view.h"

// Updates of all parameters in one pass over flat contiguous arrays of P elements, f32 or f64;
// a GPU takes bf16 and f16 as well, which it computes in f32.
namespace moiety::kernels {

/// Elements [begin, end) decay with this factor. Ranges are ascending and disjoint; elements
/// outside all of them do not decay.
struct DecayRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double decay = 0;
};

/// What a step does with its gradient, as begin_step leaves it on the parameters' device, in an f64
/// tensor of kDecisionSize elements. Starts as zeros; the counters live on from step to step.
struct StepDecision {
  double squared_norm;       ///< of the gradient, before clipping
  double usable;             ///< 1, or 0: not finite, nothing is updated
  double lr;                 ///< of this step
  double gradient_scale;     ///< what clipping multiplies the gradient with
  double first_rate;         ///< lr / (1 - beta1^t) of Adam
  double second_correction;  ///< 1 / sqrt(1 - beta2^t) of Adam
  double steps;              ///< updates so far, with this one
  double skipped;            ///< steps so far that were not usable
  double skipped_in_a_row;
  double loss;        ///< of the step, from add_loss
  double loss_scale;  ///< of the next step: what loss_seed multiplies its loss with; 0 is 1
  double good_steps;  ///< usable ones since the loss scale changed
};
inline constexpr std::int64_t kDecisionSize = sizeof(StepDecision) / sizeof(double);

struct AdamStep {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  std::int64_t number = 1;      ///< of the step, from 1: corrects the bias of the first moments
  double gradient_scale = 1;    ///< multiplies the gradient as it is read, for clipping
  bool decoupled_decay = true;  ///< AdamW; false adds decay * parameter to the gradient, as in Adam
  TensorView decision = {};     ///< where defined, a StepDecision in place of lr, number and scale
};

/// One step of Adam (Kingma and Ba 2015) or AdamW (Loshchilov and Hutter 2019), as in PyTorch:
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2,
///   p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps).
/// parameters, gradients, m, v [P]. Throws ShapeError when they differ in length.
void adam(const Stream& stream, const AdamStep& step, std::span<const DecayRange> decay,
          const TensorView& gradients, const TensorView& parameters, const TensorView& m,
          const TensorView& v);

struct SgdStep {
  double lr = 1e-2;
  double momentum = 0;
  bool nesterov = false;
  double gradient_scale = 1;  ///< multiplies the gradient as it is read, for clipping
  TensorView decision = {};   ///< where defined, a StepDecision in place of lr and scale
};

/// One step of gradient descent, as in PyTorch: g <- g + decay p, b <- momentum b + g, then
/// p <- p - lr b, or p - lr (g + momentum b) with Nesterov. `velocity` b may be undefined when
/// momentum is 0. All [P]. Throws ShapeError when they differ in length.
void sgd(const Stream& stream, const SgdStep& step, std::span<const DecayRange> decay,
         const TensorView& gradients, const TensorView& parameters, const TensorView& velocity);

/// Sum of squares, accumulated in f64 in a fixed order; waits for the stream.
double squared_norm(const Stream& stream, const TensorView& x);

/// The same into out, f64 of one element, without waiting.
void squared_norm_into(const Stream& stream, const TensorView& x, const TensorView& out);

struct StepRule {
  double clip_norm = 0;       ///< the longest gradient that is used as it is; 0: any
  double largest_square = 0;  ///< squared norms above it, clipped, are not usable
  double beta1 = 0;           ///< of Adam
  double beta2 = 0;
  /// Usable steps after which the loss scale doubles; it halves where a step is not usable. 0: the
  /// loss is not scaled.
  double loss_scale_interval = 0;
};

/// Decides on the step whose squared_norm is in `decision` and whose rate is in lr (f64, one
/// element), and counts it: adam and sgd then follow without a word from the host. A gradient of a
/// scaled loss is judged by what it is without the scale, and the update divides by it.
///
/// Steps that a smaller loss scale may save do not count as skipped in a row.
void begin_step(const Stream& stream, const StepRule& rule, const TensorView& lr,
                const TensorView& decision);

/// decision.loss <- scale * loss, plus what it was unless this is the first part of the step. loss
/// and scale have one element of one floating dtype.
void add_loss(const Stream& stream, const TensorView& loss, const TensorView& scale, bool first,
              const TensorView& decision);

/// seed <- scale * decision.loss_scale: the gradient that a backward pass begins with. scale and
/// seed have one f32 or f64 element each.
void loss_seed(const Stream& stream, const TensorView& scale, const TensorView& decision,
               const TensorView& seed);

/// into <- into + weight (from - into), both [P].
void lerp(const Stream& stream, const TensorView& from, double weight, const TensorView& into);
/// The same with a weight that lies on the device: f64, one element.
void lerp_by(const Stream& stream, const TensorView& from, const TensorView& weight,
             const TensorView& into);

// The bodies, one a device.
namespace cpu {
decltype(kernels::adam) adam;
decltype(kernels::sgd) sgd;
decltype(kernels::squared_norm_into) squared_norm_into;
decltype(kernels::begin_step) begin_step;
decltype(kernels::add_loss) add_loss;
decltype(kernels::loss_seed) loss_seed;
decltype(kernels::lerp) lerp;
decltype(kernels::lerp_by) lerp_by;
}  // namespace cpu
namespace cuda {
decltype(kernels::adam) adam;
decltype(kernels::sgd) sgd;
decltype(kernels::squared_norm_into) squared_norm_into;
decltype(kernels::begin_step) begin_step;
decltype(kernels::add_loss) add_loss;
decltype(kernels::loss_seed) loss_seed;
decltype(kernels::lerp) lerp;
decltype(kernels::lerp_by) lerp_by;
}  // namespace cuda

}  // namespace moiety::kernels

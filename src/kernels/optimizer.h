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

struct AdamStep {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  std::int64_t number = 1;      ///< of the step, from 1: corrects the bias of the first moments
  double gradient_scale = 1;    ///< multiplies the gradient as it is read, for clipping
  bool decoupled_decay = true;  ///< AdamW; false adds decay * parameter to the gradient, as in Adam
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
};

/// One step of gradient descent, as in PyTorch: g <- g + decay p, b <- momentum b + g, then
/// p <- p - lr b, or p - lr (g + momentum b) with Nesterov. `velocity` b may be undefined when
/// momentum is 0. All [P]. Throws ShapeError when they differ in length.
void sgd(const Stream& stream, const SgdStep& step, std::span<const DecayRange> decay,
         const TensorView& gradients, const TensorView& parameters, const TensorView& velocity);

/// Sum of squares, accumulated in f64 in a fixed order; waits for the stream.
double squared_norm(const Stream& stream, const TensorView& x);

/// into <- into + weight (from - into), both [P].
void lerp(const Stream& stream, const TensorView& from, double weight, const TensorView& into);

// The bodies, one a device.
namespace cpu {
decltype(kernels::adam) adam;
decltype(kernels::sgd) sgd;
void squared_norm(const Stream& stream, const TensorView& x, double& out);
decltype(kernels::lerp) lerp;
}  // namespace cpu
namespace cuda {
decltype(kernels::adam) adam;
decltype(kernels::sgd) sgd;
void squared_norm(const Stream& stream, const TensorView& x, double& out);
decltype(kernels::lerp) lerp;
}  // namespace cuda

}  // namespace moiety::kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/ops/epilogue.h"
#include "autograd/variable.h"

namespace moiety::ops {

/// What follows a norm in the same pass over its output: residual + epilogue(norm(x)).
struct NormTail {
  Epilogue epilogue = Epilogue::none;
  Variable residual = {};  ///< like x, or undefined
};

/// Normalises each row to mean 0 and variance 1, then scales and shifts (Ba et al. 2016).
/// x [N, C], weight [C], bias [C] -> [N, C].
Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    double eps = 1e-5, const NormTail& tail = {});

/// Scales each row to a mean square of 1, then by the weight (Zhang and Sennrich 2019). x [N, C],
/// weight [C] -> [N, C].
Variable rms_norm(const Variable& x, const Variable& weight, double eps = 1e-6);

/// Running statistics of a batch norm, [C] each, f32 for x in bf16 or f16 and else of x's dtype;
/// written by batch_norm in training.
struct BatchNormState {
  Tensor mean;
  Tensor var;
};

struct BatchNormOptions {
  double momentum = 0.1;
  double eps = 1e-5;
  /// i32 [1] on the device: only so many of the first rows enter statistics and gradients. The rows
  /// behind, padding, are normalised like the others and have gradient 0. Undefined: all count.
  Tensor rows = {};
  NormTail tail = {};
  bool updates_state = true;  ///< in training
};

/// Normalises each column over the rows (Ioffe and Szegedy 2015). Training: by the statistics of x,
/// and state <- (1 - momentum) state + momentum statistics (variance unbiased, as in PyTorch);
/// otherwise by the state. x [N, C], weight [C], bias [C] -> [N, C]. Training needs N > 1.
Variable batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    const BatchNormState& state, bool training,
                    const BatchNormOptions& options = {});

}  // namespace moiety::ops

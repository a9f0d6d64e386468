// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/tensor.h"

namespace moiety::ops {

/// The tensor itself when contiguous, else a copy made by the copy kernel: for operations whose
/// kernels take contiguous views.
Tensor contiguous(const Tensor& x);

/// The view of a tensor that may be undefined: what optional arguments of kernels take.
inline TensorView view_or_none(const Tensor& x) { return x.defined() ? x.view() : TensorView{}; }

}  // namespace moiety::ops

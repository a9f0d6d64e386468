// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/tensor.h"

namespace moiety::ops {

/// The tensor itself when contiguous, else a copy made by the copy kernel: for operations whose
/// kernels take contiguous views.
Tensor contiguous(const Tensor& x);

}  // namespace moiety::ops

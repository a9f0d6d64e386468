// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

namespace moiety::kernels {

/// Writes x, contiguous, into a strided view `out` of its shape and dtype (any dtype): how parts
/// are joined.
void insert(const Stream& stream, const TensorView& x, const TensorView& out);

namespace cpu {
void insert(const Stream& stream, const TensorView& x, const TensorView& out);
}  // namespace cpu

}  // namespace moiety::kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

namespace moiety::kernels {

/// Writes x, contiguous, into a strided view `out` of its shape and dtype (any dtype): how parts
/// are joined.
void insert(const Stream& stream, const TensorView& x, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::insert) insert;
}  // namespace cpu
namespace cuda {
decltype(kernels::insert) insert;
}  // namespace cuda

}  // namespace moiety::kernels

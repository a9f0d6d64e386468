// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Index tensors come from files and from callers: they are checked before anything follows them.
namespace moiety::kernels {

/// Throws ShapeError naming the operation, the tensor and the place unless ptr [M+1] i32 ascends
/// from 0 to `rows`.
void check_ptr(const Stream& stream, const TensorView& ptr, std::int64_t rows,
               const char* operation, const char* name);

/// Throws Error naming those and the value unless every entry of index (i32) is in [0, limit).
void check_index(const Stream& stream, const TensorView& index, std::int64_t limit,
                 const char* operation, const char* name);

// The bodies, one a device.
namespace cpu {
decltype(kernels::check_ptr) check_ptr;
decltype(kernels::check_index) check_index;
}  // namespace cpu
namespace cuda {
decltype(kernels::check_ptr) check_ptr;
decltype(kernels::check_index) check_index;
}  // namespace cuda

}  // namespace moiety::kernels

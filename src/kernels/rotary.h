// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Rotary position embedding (Su et al. 2021). T tokens, H heads, D head size, P positions. f32 and
// f64, on a GPU bf16 and f16 as well.
namespace moiety::kernels {

/// Element i and element i + D/2 of each head are turned as a pair by the angle of the token's
/// position, or back by it. x [T, H, D], D contiguous; positions [T] i32, trusted to be in [0, P);
/// table [P, D] of statistics_dtype: cosines of the D/2 angles, then sines -> out [T, H, D].
void rotary(const Stream& stream, bool back, const TensorView& x, const TensorView& positions,
            const TensorView& table, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::rotary) rotary;
}  // namespace cpu
namespace cuda {
decltype(kernels::rotary) rotary;
}  // namespace cuda

}  // namespace moiety::kernels

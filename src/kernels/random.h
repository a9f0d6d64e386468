// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/rng.h"
#include "tensor/stream.h"
#include "tensor/view.h"

// Element i depends on the key and i alone. f32 and f64, contiguous; a GPU takes bf16 and f16 as
// well, which it computes in f32.
namespace moiety::kernels {

/// out[i] uniform in [low, high): low + (high - low) random_uniform(key, i).
void random_uniform(const Stream& stream, RngKey key, double low, double high,
                    const TensorView& out);

/// out[i] normal with this mean and standard deviation (Box and Muller 1958): elements 2k and
/// 2k + 1 come from words 2k and 2k + 1 of the stream.
void random_normal(const Stream& stream, RngKey key, double mean, double sd, const TensorView& out);

/// out[i] = 0 where random_uniform(key, first + i) < p, else x[i] / (1 - p); 0 <= p < 1.
void dropout(const Stream& stream, RngKey key, std::uint64_t first, double p, const TensorView& x,
             const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::random_uniform) random_uniform;
decltype(kernels::random_normal) random_normal;
decltype(kernels::dropout) dropout;
}  // namespace cpu
namespace cuda {
decltype(kernels::random_uniform) random_uniform;
decltype(kernels::random_normal) random_normal;
decltype(kernels::dropout) dropout;
}  // namespace cuda

}  // namespace moiety::kernels

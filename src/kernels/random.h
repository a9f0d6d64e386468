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

/// A key, or the place on the device where a kernel finds it when it runs (i64 [2]: seed and
/// stream): work that is recorded once drops other elements each time.
struct KeySource {
  KeySource(RngKey key) : given(key) {}             // NOLINT: a key is a source
  KeySource(const TensorView& from) : read(from) {  // NOLINT: so is a place
    check<ShapeError>(from.numel() == 2 && from.contiguous(), "a key has a seed and a stream, not ",
                      from.shape);
  }
  /// Where the key lies; null where it is given.
  const RngKey* place() const {
    return read.defined() ? reinterpret_cast<const RngKey*>(read.as<std::int64_t>()) : nullptr;
  }

  RngKey given;
  TensorView read;
};

/// out[i] = 0 where random_uniform(key, first + i) < p, else x[i] / (1 - p); 0 <= p < 1.
void dropout(const Stream& stream, const KeySource& key, std::uint64_t first, double p,
             const TensorView& x, const TensorView& out);

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

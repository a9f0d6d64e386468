// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/stream.h"
#include "tensor/view.h"

// Attention of the newest token of each sequence to those before it, whose keys and values are
// kept: a step of generation. R sequences, L tokens of room in each, H heads, G heads of keys (H a
// multiple of G), D head size. f32 and f64, on a GPU bf16 and f16 as well.
namespace moiety::kernels {

struct CachedAttention {
  double scale = 1;      ///< of q . k, usually 1 / sqrt(D)
  TensorView q;          ///< [R, H, D]; D contiguous, as in k and v
  TensorView k;          ///< [R, G, D]
  TensorView v;          ///< [R, G, D]
  TensorView positions;  ///< [R] i32: tokens before the newest one, trusted to be in [0, L)
  TensorView keys;       ///< [R, G, L, D]: of the tokens before; the newest is put behind them
  TensorView values;     ///< [R, G, L, D]
};

/// Puts k and v at their positions, and out = softmax(scale q keys^T) values over the tokens up to
/// there: [R, H, D]. A sequence's numbers do not depend on the others. Throws ShapeError for views
/// that do not fit.
void cached_attention(const Stream& stream, const CachedAttention& in, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::cached_attention) cached_attention;
}  // namespace cpu
namespace cuda {
decltype(kernels::cached_attention) cached_attention;
}  // namespace cuda

}  // namespace moiety::kernels

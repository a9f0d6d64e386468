// SPDX-License-Identifier: Apache-2.0
#include "kernels/segment.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void segment_sum(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 SegmentScale scale, const TensorView& out) {
  run_staged<cpu::segment_sum, cuda::segment_sum>(stream, reads(x), ptr, scale, writes(out));
}

void segment_broadcast(const Stream& stream, const TensorView& y, const TensorView& ptr,
                       SegmentScale scale, const TensorView& out) {
  run_staged<cpu::segment_broadcast, cuda::segment_broadcast>(stream, reads(y), ptr, scale,
                                                              writes(out));
}

void segment_max(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 const TensorView& out, const TensorView& row) {
  run_staged<cpu::segment_max, cuda::segment_max>(stream, reads(x), ptr, writes(out), row);
}

void segment_pick(const Stream& stream, const TensorView& x, const TensorView& row,
                  const TensorView& out) {
  run_staged<cpu::segment_pick, cuda::segment_pick>(stream, reads(x), row, writes(out));
}

void segment_place(const Stream& stream, const TensorView& y, const TensorView& row,
                   const TensorView& ptr, const TensorView& out) {
  run_staged<cpu::segment_place, cuda::segment_place>(stream, reads(y), row, ptr, writes(out));
}

void segment_softmax(const Stream& stream, const TensorView& x, const TensorView& ptr,
                     const TensorView& out) {
  run_staged<cpu::segment_softmax, cuda::segment_softmax>(stream, reads(x), ptr, writes(out));
}

void segment_softmax_backward(const Stream& stream, const TensorView& y, const TensorView& grad,
                              const TensorView& ptr, const TensorView& dx) {
  run_staged<cpu::segment_softmax_backward, cuda::segment_softmax_backward>(
      stream, reads(y), reads(grad), ptr, writes(dx));
}

}  // namespace moiety::kernels

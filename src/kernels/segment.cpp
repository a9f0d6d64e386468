// SPDX-License-Identifier: Apache-2.0
#include "kernels/segment.h"

namespace moiety::kernels {

void segment_sum(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 SegmentScale scale, const TensorView& out) {
  run_on<cpu::segment_sum, cuda::segment_sum>(stream, x, ptr, scale, out);
}

void segment_broadcast(const Stream& stream, const TensorView& y, const TensorView& ptr,
                       SegmentScale scale, const TensorView& out) {
  run_on<cpu::segment_broadcast, cuda::segment_broadcast>(stream, y, ptr, scale, out);
}

void segment_max(const Stream& stream, const TensorView& x, const TensorView& ptr,
                 const TensorView& out, const TensorView& row) {
  run_on<cpu::segment_max, cuda::segment_max>(stream, x, ptr, out, row);
}

void segment_pick(const Stream& stream, const TensorView& x, const TensorView& row,
                  const TensorView& out) {
  run_on<cpu::segment_pick, cuda::segment_pick>(stream, x, row, out);
}

void segment_place(const Stream& stream, const TensorView& y, const TensorView& row,
                   const TensorView& ptr, const TensorView& out) {
  run_on<cpu::segment_place, cuda::segment_place>(stream, y, row, ptr, out);
}

void segment_softmax(const Stream& stream, const TensorView& x, const TensorView& ptr,
                     const TensorView& out) {
  run_on<cpu::segment_softmax, cuda::segment_softmax>(stream, x, ptr, out);
}

void segment_softmax_backward(const Stream& stream, const TensorView& y, const TensorView& grad,
                              const TensorView& ptr, const TensorView& dx) {
  run_on<cpu::segment_softmax_backward, cuda::segment_softmax_backward>(stream, y, grad, ptr, dx);
}

}  // namespace moiety::kernels

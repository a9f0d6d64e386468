// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  run_staged<cpu::sum, cuda::sum>(stream, scale, reads(x), writes(out));
}

void max(const Stream& stream, const TensorView& x, const TensorView& out,
         const TensorView& index) {
  run_staged<cpu::max, cuda::max>(stream, reads(x), writes(out), index);
}

void select(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  run_staged<cpu::select, cuda::select>(stream, reads(x), index, writes(out));
}

void place(const Stream& stream, const TensorView& x, const TensorView& index,
           const TensorView& out) {
  run_staged<cpu::place, cuda::place>(stream, reads(x), index, writes(out));
}

void log_sum_exp(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_staged<cpu::log_sum_exp, cuda::log_sum_exp>(stream, reads(x), writes(out));
}

void softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  run_staged<cpu::softmax, cuda::softmax>(stream, reads(x), writes(y));
}

void softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                  const TensorView& dx) {
  run_staged<cpu::softmax_grad, cuda::softmax_grad>(stream, reads(y), reads(grad), writes(dx));
}

void log_softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  run_staged<cpu::log_softmax, cuda::log_softmax>(stream, reads(x), writes(y));
}

void log_softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                      const TensorView& dx) {
  run_staged<cpu::log_softmax_grad, cuda::log_softmax_grad>(stream, reads(y), reads(grad),
                                                            writes(dx));
}

}  // namespace moiety::kernels

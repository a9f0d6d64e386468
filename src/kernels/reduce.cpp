// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

namespace moiety::kernels {

void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  run_on<cpu::sum, cuda::sum>(stream, scale, x, out);
}

void max(const Stream& stream, const TensorView& x, const TensorView& out,
         const TensorView& index) {
  run_on<cpu::max, cuda::max>(stream, x, out, index);
}

void select(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  run_on<cpu::select, cuda::select>(stream, x, index, out);
}

void place(const Stream& stream, const TensorView& x, const TensorView& index,
           const TensorView& out) {
  run_on<cpu::place, cuda::place>(stream, x, index, out);
}

void log_sum_exp(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_on<cpu::log_sum_exp, cuda::log_sum_exp>(stream, x, out);
}

void softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  run_on<cpu::softmax, cuda::softmax>(stream, x, y);
}

void softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                  const TensorView& dx) {
  run_on<cpu::softmax_grad, cuda::softmax_grad>(stream, y, grad, dx);
}

void log_softmax(const Stream& stream, const TensorView& x, const TensorView& y) {
  run_on<cpu::log_softmax, cuda::log_softmax>(stream, x, y);
}

void log_softmax_grad(const Stream& stream, const TensorView& y, const TensorView& grad,
                      const TensorView& dx) {
  run_on<cpu::log_softmax_grad, cuda::log_softmax_grad>(stream, y, grad, dx);
}

}  // namespace moiety::kernels

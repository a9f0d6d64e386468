// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer.h"

namespace moiety::kernels {

void adam(const Stream& stream, const AdamStep& step, std::span<const DecayRange> decay,
          const TensorView& gradients, const TensorView& parameters, const TensorView& m,
          const TensorView& v) {
  run_on<cpu::adam, cuda::adam>(stream, step, decay, gradients, parameters, m, v);
}

void sgd(const Stream& stream, const SgdStep& step, std::span<const DecayRange> decay,
         const TensorView& gradients, const TensorView& parameters, const TensorView& velocity) {
  run_on<cpu::sgd, cuda::sgd>(stream, step, decay, gradients, parameters, velocity);
}

double squared_norm(const Stream& stream, const TensorView& x) {
  double out = 0;
  run_on<cpu::squared_norm, cuda::squared_norm>(stream, x, out);
  return out;
}

void lerp(const Stream& stream, const TensorView& from, double weight, const TensorView& into) {
  run_on<cpu::lerp, cuda::lerp>(stream, from, weight, into);
}

}  // namespace moiety::kernels

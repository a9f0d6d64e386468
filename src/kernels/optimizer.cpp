// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer.h"

#include "tensor/storage.h"

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
  const Storage total(stream.device(), sizeof(double));
  squared_norm_into(stream, x, {total.data(), DType::f64, {1}, {1}});
  double out = 0;
  stream.device().copy_bytes(&out, total.data(), sizeof(double), stream);  // waits
  return out;
}

void squared_norm_into(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_on<cpu::squared_norm_into, cuda::squared_norm_into>(stream, x, out);
}

void begin_step(const Stream& stream, const StepRule& rule, const TensorView& lr,
                const TensorView& decision) {
  run_on<cpu::begin_step, cuda::begin_step>(stream, rule, lr, decision);
}

void add_loss(const Stream& stream, const TensorView& loss, const TensorView& scale, bool first,
              const TensorView& decision) {
  run_on<cpu::add_loss, cuda::add_loss>(stream, loss, scale, first, decision);
}

void loss_seed(const Stream& stream, const TensorView& scale, const TensorView& decision,
               const TensorView& seed) {
  MOIETY_CHECK(scale.numel() == 1 && seed.numel() == 1 && seed.dtype == scale.dtype,
               "loss_seed: ", scale.shape, " and ", seed.shape);
  run_on<cpu::loss_seed, cuda::loss_seed>(stream, scale, decision, seed);
}

void lerp(const Stream& stream, const TensorView& from, double weight, const TensorView& into) {
  run_on<cpu::lerp, cuda::lerp>(stream, from, weight, into);
}

void lerp_by(const Stream& stream, const TensorView& from, const TensorView& weight,
             const TensorView& into) {
  run_on<cpu::lerp_by, cuda::lerp_by>(stream, from, weight, into);
}

}  // namespace moiety::kernels

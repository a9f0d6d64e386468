// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

namespace moiety::kernels {

void random_uniform(const Stream& stream, RngKey key, double low, double high,
                    const TensorView& out) {
  run_on<cpu::random_uniform, cuda::random_uniform>(stream, key, low, high, out);
}

void random_normal(const Stream& stream, RngKey key, double mean, double sd,
                   const TensorView& out) {
  run_on<cpu::random_normal, cuda::random_normal>(stream, key, mean, sd, out);
}

void dropout(const Stream& stream, const KeySource& key, std::uint64_t first, double p,
             const TensorView& x, const TensorView& out) {
  run_on<cpu::dropout, cuda::dropout>(stream, key, first, p, x, out);
}

}  // namespace moiety::kernels

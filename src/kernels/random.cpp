// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void random_uniform(const Stream& stream, RngKey key, double low, double high,
                    const TensorView& out) {
  run_staged<cpu::random_uniform, cuda::random_uniform>(stream, key, low, high, writes(out));
}

void random_normal(const Stream& stream, RngKey key, double mean, double sd,
                   const TensorView& out) {
  run_staged<cpu::random_normal, cuda::random_normal>(stream, key, mean, sd, writes(out));
}

void dropout(const Stream& stream, const KeySource& key, std::uint64_t first, double p,
             const TensorView& x, const TensorView& out) {
  run_staged<cpu::dropout, cuda::dropout>(stream, key, first, p, reads(x), writes(out));
}

}  // namespace moiety::kernels

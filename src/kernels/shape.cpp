// SPDX-License-Identifier: Apache-2.0
#include "kernels/shape.h"

namespace moiety::kernels {

void insert(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_on<cpu::insert, cuda::insert>(stream, x, out);
}

}  // namespace moiety::kernels

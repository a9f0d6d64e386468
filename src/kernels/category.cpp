// SPDX-License-Identifier: Apache-2.0
#include "kernels/category.h"

namespace moiety::kernels {

void combine_categories(const Stream& stream, const TensorView& attr,
                        const std::vector<std::int32_t>& dims, const TensorView& out) {
  run_on<cpu::combine_categories, cuda::combine_categories>(stream, attr, dims, out);
}

}  // namespace moiety::kernels

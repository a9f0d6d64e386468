// SPDX-License-Identifier: Apache-2.0
#include "kernels/gather.h"

namespace moiety::kernels {

void gather(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  run_on<cpu::gather, cuda::gather>(stream, x, index, out);
}

void scatter_sum(const Stream& stream, const TensorView& values, const TensorView& ptr,
                 const TensorView& order, const TensorView& out) {
  run_on<cpu::scatter_sum, cuda::scatter_sum>(stream, values, ptr, order, out);
}

void embedding_sum(const Stream& stream, const TensorView& table, const TensorView& index,
                   const std::vector<std::int32_t>& dims, const TensorView& out) {
  run_on<cpu::embedding_sum, cuda::embedding_sum>(stream, table, index, dims, out);
}

void embedding_sum_backward(const Stream& stream, const TensorView& grad, const TensorView& index,
                            const std::vector<std::int32_t>& dims, const TensorView& dtable) {
  run_on<cpu::embedding_sum_backward, cuda::embedding_sum_backward>(stream, grad, index, dims,
                                                                    dtable);
}

}  // namespace moiety::kernels

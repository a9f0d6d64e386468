// SPDX-License-Identifier: Apache-2.0
#include "kernels/gather.h"

#include "kernels/staged.h"

namespace moiety::kernels {

void gather(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  run_staged<cpu::gather, cuda::gather>(stream, reads(x), index, writes(out));
}

void scatter_sum(const Stream& stream, const TensorView& values, const TensorView& ptr,
                 const TensorView& order, const TensorView& out) {
  run_staged<cpu::scatter_sum, cuda::scatter_sum>(stream, reads(values), ptr, order, writes(out));
}

void embedding_sum(const Stream& stream, const TensorView& table, const TensorView& index,
                   const std::vector<std::int32_t>& dims, const TensorView& out) {
  run_staged<cpu::embedding_sum, cuda::embedding_sum>(stream, reads(table), index, dims,
                                                      writes(out));
}

void embedding_sum_backward(const Stream& stream, const TensorView& grad, const TensorView& index,
                            const std::vector<std::int32_t>& dims, const TensorView& dtable) {
  run_staged<cpu::embedding_sum_backward, cuda::embedding_sum_backward>(stream, reads(grad), index,
                                                                        dims, writes(dtable));
}

}  // namespace moiety::kernels

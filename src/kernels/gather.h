// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tensor/stream.h"
#include "tensor/view.h"

// Rows picked by index, and their adjoints, which sum in a fixed order. Index tensors are i32; all
// views are contiguous. gather and scatter_sum trust their indices: see index_check.h.
namespace moiety::kernels {

/// out[e] = x[index[e]]. x [N, C], index [E], out [E, C].
void gather(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out);

/// out[n] = sum over k in ptr[n] .. ptr[n+1] of values[order[k]], in that order.
/// values [E, C], ptr [N+1], order [E], out [N, C].
void scatter_sum(const Stream& stream, const TensorView& values, const TensorView& ptr,
                 const TensorView& order, const TensorView& out);

/// out[n] = sum over features f of table[offset[f] + index[n, f]], where feature f owns dims[f]
/// rows of the table [sum(dims), C]. index [N, F], out [N, C]. Throws Error naming row, feature and
/// value of an index outside [0, dims[f]).
void embedding_sum(const Stream& stream, const TensorView& table, const TensorView& index,
                   const std::vector<std::int32_t>& dims, const TensorView& out);

/// Its adjoint, for an index that it has checked: dtable[r] = sum of grad[n] over the entries of
/// index that read row r, n ascending. grad [N, C], dtable [sum(dims), C].
void embedding_sum_backward(const Stream& stream, const TensorView& grad, const TensorView& index,
                            const std::vector<std::int32_t>& dims, const TensorView& dtable);

// The bodies, one a device.
namespace cpu {
decltype(kernels::gather) gather;
decltype(kernels::scatter_sum) scatter_sum;
decltype(kernels::embedding_sum) embedding_sum;
decltype(kernels::embedding_sum_backward) embedding_sum_backward;
}  // namespace cpu
namespace cuda {
decltype(kernels::gather) gather;
decltype(kernels::scatter_sum) scatter_sum;
decltype(kernels::embedding_sum) embedding_sum;
decltype(kernels::embedding_sum_backward) embedding_sum_backward;
}  // namespace cuda

}  // namespace moiety::kernels

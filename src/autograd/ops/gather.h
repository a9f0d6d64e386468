// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// Rows of x: x [N, C], index [E] i32 -> x[index] [E, C]. `ptr` [N+1] and `order` [E] i32 list for
/// each row the places that read it (the transposed index): the gradient sums them in that order
/// without atomics. Throws ShapeError when they do not fit; indices out of range throw Error.
Variable gather(const Variable& x, const Tensor& index, const Tensor& ptr, const Tensor& order);

/// The adjoint of gather: values [E, C] -> [N, C], row n the sum of values[order[ptr[n] ..
/// ptr[n+1]]]. index [E] says which row each value goes to.
Variable scatter_sum(const Variable& values, const Tensor& index, const Tensor& ptr,
                     const Tensor& order);

/// Sum of several categorical features' embeddings: index [N, F] i32, table [sum(dims), C] with the
/// tables of the F features stacked, feature f's rows starting at offsets[f] -> [N, C].
/// An index outside its feature's range throws Error naming row, feature and value.
Variable embedding_sum(const Variable& table, const Tensor& index,
                       const std::vector<std::int32_t>& dims);

}  // namespace moiety::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/stream.h"
#include "tensor/view.h"

namespace moiety::kernels::cuda {

/// What libraries want to know of packed sequences, from ptr [B+1] i32: lengths [B], and for each
/// stride of a token (at most four) where sequences begin in such a tensor, offsets [strides, B+1]
/// in elements.
void sequence_layout(const Stream& stream, const TensorView& ptr,
                     const std::vector<std::int64_t>& strides, std::int32_t* lengths,
                     std::int64_t* offsets);

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tensor/stream.h"
#include "tensor/view.h"

namespace moiety::kernels {

/// Numbers each combination of F categorical features: attr [E, F] i32, dims [F] -> out [E] i32,
/// the last feature counting fastest. Throws Error naming row, feature and value for a value
/// outside [0, dims[f]).
void combine_categories(const Stream& stream, const TensorView& attr,
                        const std::vector<std::int32_t>& dims, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::combine_categories) combine_categories;
}  // namespace cpu
namespace cuda {
decltype(kernels::combine_categories) combine_categories;
}  // namespace cuda

}  // namespace moiety::kernels

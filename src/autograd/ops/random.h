// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"
#include "tensor/rng.h"

namespace moiety::ops {

/// Zeroes each element with probability p and scales the rest by 1 / (1 - p). Element i of x takes
/// number first + i of the stream, so parts of a batch drop what the whole batch would.
Variable dropout(const Variable& x, double p, RngKey key, std::uint64_t first = 0);
/// The same with a key that is read when the kernels run: i64 [2], seed and stream, on x's device.
Variable dropout(const Variable& x, double p, const Tensor& key, std::uint64_t first = 0);

}  // namespace moiety::ops

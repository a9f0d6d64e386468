// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// Cosines and sines for rotary(): [positions, head_size], angle p base^(-2 i / head_size) for pair
/// i at position p, in the statistics' dtype of `dtype` (f64 for f64, else f32).
Tensor rotary_table(std::int64_t positions, std::int64_t head_size, double base, DType dtype,
                    Device& device);

/// Rotary position embedding (Su et al. 2021): element i and element i + D/2 of each head are
/// turned as a pair by an angle that grows with the token's position, so that products of queries
/// and keys depend on their distance. x [T, H, D], positions [T] i32, table [P, D] -> [T, H, D].
/// Positions outside the table throw Error.
Variable rotary(const Variable& x, const Tensor& positions, const Tensor& table);

}  // namespace moiety::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace simt_test {

/// The floats of all 65,536 bit patterns of bf16 and of f16.
cudaError_t widen_all_halves(float* from_bf16, float* from_f16);
/// `count` floats (a multiple of 256) rounded to bf16 and to f16.
cudaError_t narrow_to_halves(int count, const float* in, std::uint16_t* bf16, std::uint16_t* f16);

}  // namespace simt_test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "tensor/stream.h"

namespace moiety {

/// CUDA's handle of a CUDA stream. Throws CudaError for a CPU stream, whose null handle would mean
/// CUDA's default stream.
inline cudaStream_t native(const Stream& stream) {
  check<CudaError>(stream.is_cuda(), "expected a CUDA stream, got one of the CPU");
  return static_cast<cudaStream_t>(stream.native());
}

}  // namespace moiety

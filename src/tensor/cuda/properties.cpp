// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/properties.h"

#include "tensor/cuda/check.h"

namespace moiety {

CudaProperties cuda_properties(const Device& device) {
  check<CudaError>(device.is_cuda(), device.name(), " is no GPU");
  cudaDeviceProp found{};
  cuda_check(cudaGetDeviceProperties(&found, device.index()));
  int driver = 0;
  cuda_check(cudaDriverGetVersion(&driver));
  return {found.name,
          found.major,
          found.minor,
          found.multiProcessorCount,
          found.totalGlobalMem,
          static_cast<std::size_t>(found.l2CacheSize),
          driver};
}

}  // namespace moiety

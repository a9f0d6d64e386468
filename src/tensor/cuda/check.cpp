// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/check.h"

namespace moiety {

void cuda_check(cudaError_t status, const std::source_location& where) {
  if (status == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // the failure is reported here: the next call must not see it again
  const std::string text =
      concat(where.file_name(), ":", where.line(), ": ", cudaGetErrorName(status), " (",
             static_cast<int>(status), "): ", cudaGetErrorString(status));
  check<MemoryError>(status != cudaErrorMemoryAllocation, text);
  throw CudaError(text);
}

void use_device(int index) {
  int current = -1;
  cuda_check(cudaGetDevice(&current));
  if (current != index) cuda_check(cudaSetDevice(index));
}

}  // namespace moiety

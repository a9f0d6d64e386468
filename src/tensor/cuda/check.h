// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

#include "tensor/error.h"

namespace moiety {

/// Throws CudaError with the caller's file and line and CUDA's name and words for the failure;
/// MemoryError where memory is what fails.
void cuda_check(cudaError_t status,
                const std::source_location& where = std::source_location::current());

/// Makes a GPU current for the calling thread; allocation, events and streams take the current one.
/// It stays current: to restore the one before would open a context, and take its memory, on GPU 0
/// in a process that never uses it.
void use_device(int index);

}  // namespace moiety

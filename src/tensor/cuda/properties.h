// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "tensor/device.h"

namespace moiety {

/// What a GPU is.
struct CudaProperties {
  std::string name;
  int major = 0;  ///< compute capability, 9.0 for Hopper
  int minor = 0;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  ///< of the second level, which all multiprocessors share
  int driver_version = 0;       ///< the newest CUDA that the driver offers: 13000 for 13.0
};

/// Throws CudaError where `device` is not a GPU.
CudaProperties cuda_properties(const Device& device);

}  // namespace moiety

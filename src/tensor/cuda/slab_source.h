// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tensor/caching_allocator.h"

namespace moiety {

/// What a GPU has now. Throws CudaError.
DeviceMemory gpu_memory(int device_index);

/// Memory of one GPU. take() throws MemoryError saying what was asked, held and free; give_back()
/// waits for all work that may still use the slab.
std::unique_ptr<SlabSource> make_cuda_slab_source(int device_index);

/// Page-locked host memory, which one GPU and all others copy without waiting. take() throws
/// CudaError where the system refuses to lock so much.
std::unique_ptr<SlabSource> make_pinned_slab_source(int device_index);

}  // namespace moiety

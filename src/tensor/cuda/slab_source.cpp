// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/slab_source.h"

#include <atomic>

#include "tensor/cuda/check.h"

#if defined(MOIETY_SIMT_EMULATED)
#include <simt/emulator.h>
#endif

namespace moiety {
namespace {

class CudaSlabSource final : public SlabSource {
 public:
  explicit CudaSlabSource(int device_index) : device_index_(device_index) {}

  void* take(std::size_t bytes) override {
    use_device(device_index_);
    void* slab = nullptr;
    const cudaError_t status = cudaMalloc(&slab, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky: clear it
      throw out_of_memory(concat("cuda:", device_index_), bytes, held_, gpu_memory(device_index_));
    }
    cuda_check(status);
    held_ += bytes;
    return slab;
  }

  void give_back(void* slab, std::size_t bytes) noexcept override {
    cudaSetDevice(device_index_);
    cudaFree(slab);
    held_ -= bytes;
  }

#if defined(MOIETY_SIMT_EMULATED)
  // The emulator then knows where each tensor ends, and which are not written yet.
  void handed_out(void* piece, std::size_t bytes) noexcept override {
    simt::note_block(piece, bytes);
  }
  void taken_back(void* piece) noexcept override { simt::forget_block(piece); }
#endif

 private:
  int device_index_;
  std::atomic<std::size_t> held_{0};
};

class PinnedSlabSource final : public SlabSource {
 public:
  explicit PinnedSlabSource(int device_index) : device_index_(device_index) {}

  void* take(std::size_t bytes) override {
    use_device(device_index_);
    void* slab = nullptr;
    cuda_check(cudaHostAlloc(&slab, bytes, cudaHostAllocPortable));
    return slab;
  }

  void give_back(void* slab, std::size_t) noexcept override {
    cudaSetDevice(device_index_);
    cudaFreeHost(slab);
  }

 private:
  int device_index_;
};

}  // namespace

DeviceMemory gpu_memory(int device_index) {
  use_device(device_index);
  DeviceMemory memory;
  cuda_check(cudaMemGetInfo(&memory.free, &memory.total));
  return memory;
}

std::unique_ptr<SlabSource> make_cuda_slab_source(int device_index) {
  return std::make_unique<CudaSlabSource>(device_index);
}

std::unique_ptr<SlabSource> make_pinned_slab_source(int device_index) {
  return std::make_unique<PinnedSlabSource>(device_index);
}

}  // namespace moiety

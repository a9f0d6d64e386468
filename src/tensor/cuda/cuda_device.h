// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <mutex>
#include <optional>

#include "tensor/cuda/kernel_faults.h"
#include "tensor/cuda/slab_source.h"
#include "tensor/device.h"

namespace moiety {

/// A CUDA stream that does not wait for the default stream.
class CudaStreamHandle {
 public:
  explicit CudaStreamHandle(int device_index);
  ~CudaStreamHandle();
  CudaStreamHandle(const CudaStreamHandle&) = delete;
  CudaStreamHandle& operator=(const CudaStreamHandle&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  int device_index_;
  cudaStream_t stream_ = nullptr;
};

/// One GPU, with a stream for each role.
///
/// A block of the allocator belongs to the compute stream: freed while work is still queued there,
/// it is reused by work queued behind it on the same stream, which is safe without waiting. Other
/// streams follow the rule of Device::wait().
class CudaDevice final : public Device {
 public:
  /// With `host_threads` threads on its host (0: one a core). Throws CudaError where there is no
  /// GPU of that number, saying why.
  explicit CudaDevice(int index, int host_threads = 0);

  const Stream& stream(StreamRole role) const override;
  CachingAllocator& allocator() override { return allocator_; }
  DeviceMemory memory() const override { return gpu_memory(index()); }
  Device& host() override { return *host_; }
  Device& staging() override;
  void copy_bytes(void* to, const void* from, std::size_t bytes, const Stream& stream) override;
  void fill_zero(void* to, std::size_t bytes, const Stream& stream) override;
  void synchronize(const Stream& stream) override;
  void wait(const Stream& later, const Stream& earlier) override;
  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<Recording> record(const std::function<void()>& work) override;

  /// What kernels found wrong; synchronize() throws it.
  KernelFaults& faults() { return *faults_; }

  /// What the product kernels keep for this GPU: their library's handle, workspace and plans.
  std::shared_ptr<void>& gemm_state() { return gemm_state_; }

 private:
  std::unique_ptr<Device> host_;
  std::once_flag staging_made_;
  std::unique_ptr<Device> staging_;
  std::array<CudaStreamHandle, 3> handles_;
  std::array<Stream, 3> streams_;
  CachingAllocator allocator_;
  std::optional<KernelFaults> faults_;  // made once the rest of the device is there
  std::shared_ptr<void> gemm_state_;    // goes first: its workspace is the allocator's
};

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/pinned_buffer.h"

#include <utility>

#include "tensor/cuda/check.h"

namespace moiety {

PinnedBuffer::PinnedBuffer(const Device& device, std::size_t bytes)
    : device_index_(device.index()), bytes_(bytes) {
  check<CudaError>(device.is_cuda(), "pinned memory needs a CUDA device, not ", device.name());
  if (bytes == 0) return;
  use_device(device_index_);
  void* data = nullptr;
  cuda_check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
  data_ = static_cast<std::byte*>(data);
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  cudaSetDevice(device_index_);
  cudaFreeHost(data_);
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : device_index_(other.device_index_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(device_index_, other.device_index_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace moiety

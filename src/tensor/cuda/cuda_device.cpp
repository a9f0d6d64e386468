// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/cuda_device.h"

#include "tensor/cuda/check.h"
#include "tensor/cuda/event.h"
#include "tensor/cuda/gpus.h"
#include "tensor/cuda/native.h"
#include "tensor/cuda/recording.h"
#include "tensor/cuda/slab_source.h"
#include "tensor/thread_state.h"

namespace moiety {
namespace {

std::string version_text(int version) { return concat(version / 1000, ".", version % 1000 / 10); }

/// Why cudaGetDeviceCount failed. It says "insufficient driver" without any driver as well.
std::string reason_of(cudaError_t status) {
  int driver = 0;
  if (status == cudaErrorInsufficientDriver) {
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
      return "no NVIDIA driver on this machine";
    }
    return concat("the NVIDIA driver is too old: it offers CUDA ", version_text(driver),
                  ", this build needs ", version_text(CUDART_VERSION), "; update the driver");
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    return "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES may hide it)";
  }
  return concat("CUDA does not start: ", cudaGetErrorString(status));
}

/// Checks the number before the first CUDA call that depends on it.
int checked_index(int index) {
  const CudaStatus status = cuda_status();
  check<CudaError>(status.count > 0, "device cuda: ", status.reason);
  check<CudaError>(index >= 0 && index < status.count, "device cuda:", index,
                   ": this machine's GPUs are cuda:0 to cuda:", status.count - 1);
  const std::string problem = lack_of_code(index);
  check<CudaError>(problem.empty(), "device cuda:", index, ": ", problem);
  return index;
}

/// A copy from or to memory that CUDA has not pinned may return early or late; which one depends on
/// size and platform.
bool is_pageable(const void* pointer) {
  cudaPointerAttributes attributes{};
  cuda_check(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type == cudaMemoryTypeUnregistered;
}

}  // namespace

CudaStatus cuda_status() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {count, ""};
  cudaGetLastError();  // an answer, not a failure to report later
  return {0, reason_of(status)};
}

std::unique_ptr<Device> make_cuda_device(int index, int host_threads) {
  return std::make_unique<CudaDevice>(index, host_threads);
}

CudaStreamHandle::CudaStreamHandle(int device_index) : device_index_(device_index) {
  use_device(device_index);
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

CudaStreamHandle::~CudaStreamHandle() {
  cudaSetDevice(device_index_);
  cudaStreamDestroy(stream_);
}

CudaDevice::CudaDevice(int index, int host_threads)
    : Device(DeviceKind::cuda, checked_index(index)),
      host_(make_cpu_device(host_threads)),
      handles_{CudaStreamHandle(index), CudaStreamHandle(index), CudaStreamHandle(index)},
      streams_{Stream(*this, nullptr, handles_[0].get()), Stream(*this, nullptr, handles_[1].get()),
               Stream(*this, nullptr, handles_[2].get())},
      allocator_(make_cuda_slab_source(index)) {
  faults_.emplace(*this);
}

const Stream& CudaDevice::stream(StreamRole role) const {
  return streams_[static_cast<std::size_t>(role)];
}

Device& CudaDevice::staging() {
  std::call_once(staging_made_, [this] {
    staging_ = make_cpu_device_on(make_pinned_slab_source(index()), /*threads=*/1);
  });
  return *staging_;
}

void CudaDevice::copy_bytes(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  use_device(index());
  cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)));
  if (is_pageable(to) || is_pageable(from)) synchronize(stream);
}

void CudaDevice::fill_zero(void* to, std::size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  use_device(index());
  cuda_check(cudaMemsetAsync(to, 0, bytes, native(stream)));
}

void CudaDevice::synchronize(const Stream& stream) {
  use_device(index());
  cuda_check(cudaStreamSynchronize(native(stream)));
  faults_->raise();
}

void CudaDevice::wait(const Stream& later, const Stream& earlier) {
  CudaEvent event(earlier.device());
  event.record(earlier);
  event.hold(later);
}

std::unique_ptr<Event> CudaDevice::make_event() { return std::make_unique<CudaEvent>(*this); }

std::unique_ptr<Recording> CudaDevice::record(const std::function<void()>& work) {
  const LaneScope lane(kRecordingLane);
  allocator_.keep(kRecordingLane);
  return std::make_unique<CudaRecording>(stream(StreamRole::compute), work);
}

}  // namespace moiety

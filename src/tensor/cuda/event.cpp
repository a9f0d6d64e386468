// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/event.h"

#include "tensor/cuda/check.h"
#include "tensor/cuda/native.h"
#include "tensor/device.h"

namespace moiety {

CudaEvent::CudaEvent(const Device& device) : device_index_(device.index()) {
  use_device(device_index_);
  cuda_check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

CudaEvent::~CudaEvent() {
  cudaSetDevice(device_index_);
  cudaEventDestroy(event_);
}

void CudaEvent::record(const Stream& stream) {
  use_device(device_index_);
  cuda_check(cudaEventRecord(event_, native(stream)));
}

void CudaEvent::hold(const Stream& stream) const {
  use_device(stream.device().index());
  cuda_check(cudaStreamWaitEvent(native(stream), event_, 0));
}

bool CudaEvent::passed() const {
  use_device(device_index_);
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  cuda_check(status);
  return true;
}

void CudaEvent::synchronize() const {
  use_device(device_index_);
  cuda_check(cudaEventSynchronize(event_));
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/event.h"

#include "tensor/cuda/check.h"
#include "tensor/cuda/cuda_device.h"
#include "tensor/cuda/native.h"

namespace moiety {

CudaEvent::CudaEvent(Device& device, EventTime time) : device_(device) {
  use_device(device_.index());
  cuda_check(cudaEventCreateWithFlags(
      &event_, time == EventTime::kept ? cudaEventDefault : cudaEventDisableTiming));
}

CudaEvent::~CudaEvent() {
  cudaSetDevice(device_.index());
  cudaEventDestroy(event_);
}

void CudaEvent::record(const Stream& stream) {
  use_device(device_.index());
  cuda_check(cudaEventRecord(event_, native(stream)));
}

void CudaEvent::hold(const Stream& stream) const {
  use_device(stream.device().index());
  cuda_check(cudaStreamWaitEvent(native(stream), event_, 0));
}

bool CudaEvent::passed() const {
  use_device(device_.index());
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  cuda_check(status);
  return true;
}

void CudaEvent::synchronize() const {
  use_device(device_.index());
  cuda_check(cudaEventSynchronize(event_));
  static_cast<CudaDevice&>(device_).faults().raise();
}

double CudaEvent::seconds_since(const CudaEvent& earlier) const {
  synchronize();
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace moiety

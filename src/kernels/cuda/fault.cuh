// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/simt.cuh"
#include "tensor/cuda/cuda_device.h"
#include "tensor/cuda/kernel_faults.h"

// How kernels report an index that is out of range. For .cu files alone.
namespace moiety::kernels::cuda {

/// Where and under which code a launch reports.
struct FaultReport {
  KernelFault* slot;
  std::int32_t code;

  /// True when `value` is in [0, limit), else reports it for `place`; the first report stays.
  __device__ bool check(long long value, long long limit, long long place) const {
    if (value >= 0 && value < limit) return true;
    if (atomicCAS(&slot->code, 0, code) == 0) {
      slot->place = place;
      slot->value = value;
      slot->limit = limit;
      __threadfence_system();
      slot->ready = 1;
    }
    return false;
  }
};

inline FaultReport fault_report(const Stream& stream, const char* operation, const char* name) {
  KernelFaults& faults = static_cast<CudaDevice&>(stream.device()).faults();
  return {faults.slot(), faults.watch(operation, name)};
}

}  // namespace moiety::kernels::cuda

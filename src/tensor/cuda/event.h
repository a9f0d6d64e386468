// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "tensor/event.h"

namespace moiety {

class CudaDevice;

/// A CUDA event without a time stamp.
class CudaEvent final : public Event {
 public:
  /// For the streams of one GPU. Throws CudaError, as all members do.
  explicit CudaEvent(CudaDevice& device);
  ~CudaEvent() override;

  void record(const Stream& stream) override;
  void hold(const Stream& stream) const override;
  bool passed() const override;
  void synchronize() const override;

 private:
  CudaDevice& device_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace moiety

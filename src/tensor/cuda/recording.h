// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "tensor/recording.h"
#include "tensor/stream.h"

namespace moiety {

/// A CUDA graph of what `work` queues on a stream, which it does not run.
class CudaRecording final : public Recording {
 public:
  /// Throws what `work` throws, and CudaError where it waits for the GPU.
  CudaRecording(const Stream& stream, const std::function<void()>& work);
  ~CudaRecording() override;

  void replay() override;

 private:
  const Stream& stream_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace moiety

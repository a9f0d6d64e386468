// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/recording.h"

#include "tensor/cuda/check.h"
#include "tensor/cuda/native.h"
#include "tensor/device.h"

namespace moiety {

CudaRecording::CudaRecording(const Stream& stream, const std::function<void()>& work)
    : stream_(stream) {
  use_device(stream.device().index());
  // Relaxed: other threads go on with what they do, and slabs may be taken.
  cuda_check(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeRelaxed));
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(native(stream), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // what counts is what work() threw
    throw;
  }
  cuda_check(cudaStreamEndCapture(native(stream), &graph));
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  cuda_check(status);
}

CudaRecording::~CudaRecording() {
  cudaSetDevice(stream_.device().index());
  cudaGraphExecDestroy(executable_);
}

void CudaRecording::replay() {
  use_device(stream_.device().index());
  cuda_check(cudaGraphLaunch(executable_, native(stream_)));
}

}  // namespace moiety

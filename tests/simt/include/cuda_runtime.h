// SPDX-License-Identifier: Apache-2.0
#pragma once

// The emulated GPU as kernel files see it: the host interface, the device side, and simt::launch.

#include <cuda_runtime_api.h>

#include "simt/async_copy.h"
#include "simt/atomics.h"
#include "simt/builtins.h"
#include "simt/intrinsics.h"
#include "simt/launch.h"
#include "simt/shared.h"
#include "simt/tensor_cores.h"
#include "simt/warp.h"

template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  *memory = static_cast<T*>(data);
  return status;
}

template <class Result, class... Parameters>
cudaError_t cudaFuncSetAttribute(Result (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

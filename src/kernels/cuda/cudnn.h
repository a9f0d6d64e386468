// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuDNN is no part of the CUDA toolkit: a build may lack its headers, and a machine its library.
#if !defined(MOIETY_SIMT_EMULATED) && __has_include(<cudnn.h>)
#define MOIETY_HAS_CUDNN
#include <cudnn.h>

#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

namespace moiety::kernels::cuda {

/// The functions of cuDNN's backend, found at first use: its libraries take seconds to load.
struct Cudnn {
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

/// Throws CudaError naming the library and what to install where it cannot be opened.
const Cudnn& cudnn();

/// Throws CudaError naming the caller's line and the status.
void cudnn_check(cudnnStatus_t status,
                 const std::source_location& where = std::source_location::current());

/// A descriptor of the backend: made, given attributes, finished. Throws CudaError.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;

  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       std::int64_t count, const void* values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other);
  CudnnDescriptor& finish();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace moiety::kernels::cuda
#endif

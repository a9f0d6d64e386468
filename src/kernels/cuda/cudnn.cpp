// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cudnn.h"

#if defined(MOIETY_HAS_CUDNN)
#include <dlfcn.h>

#include <string>

#include "tensor/error.h"

namespace moiety::kernels::cuda {
namespace {

Cudnn open_cudnn() {
  const std::string name = concat("libcudnn.so.", CUDNN_MAJOR);
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  check<CudaError>(library != nullptr, "run.attention = \"cudnn\" needs ", name,
                   ", which cannot be opened (", dlerror(), "); install cuDNN ", CUDNN_MAJOR,
                   ", add its folder to LD_LIBRARY_PATH, or use \"own\"");
  const auto find = [&]<class F>(const char* symbol, F& function) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
    check<CudaError>(function != nullptr, name, " has no ", symbol);
  };
  Cudnn out;
  find("cudnnCreate", out.create);
  find("cudnnDestroy", out.destroy);
  find("cudnnSetStream", out.set_stream);
  find("cudnnGetErrorString", out.error_string);
  find("cudnnBackendCreateDescriptor", out.create_descriptor);
  find("cudnnBackendDestroyDescriptor", out.destroy_descriptor);
  find("cudnnBackendSetAttribute", out.set_attribute);
  find("cudnnBackendGetAttribute", out.get_attribute);
  find("cudnnBackendFinalize", out.finalize);
  find("cudnnBackendExecute", out.execute);
  return out;
}

}  // namespace

const Cudnn& cudnn() {
  static const Cudnn functions = open_cudnn();
  return functions;
}

void cudnn_check(cudnnStatus_t status, const std::source_location& where) {
  if (status == CUDNN_STATUS_SUCCESS) [[likely]]
    return;
  throw CudaError(concat(where.file_name(), ":", where.line(), ": cuDNN returned ",
                         cudnn().error_string(status)));
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  cudnn_check(cudnn().create_descriptor(type, &descriptor_));
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) cudnn().destroy_descriptor(descriptor_);
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type, std::int64_t count,
                                      const void* values) {
  cudnn_check(cudnn().set_attribute(descriptor_, name, type, count, values));
  return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      const std::vector<std::int64_t>& values) {
  return set(name, CUDNN_TYPE_INT64, std::ssize(values), values.data());
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      const CudnnDescriptor& other) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
}

CudnnDescriptor& CudnnDescriptor::finish() {
  cudnn_check(cudnn().finalize(descriptor_));
  return *this;
}

}  // namespace moiety::kernels::cuda
#endif

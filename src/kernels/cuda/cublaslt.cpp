// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cublaslt.h"

#include <dlfcn.h>

#include <string>

#include "tensor/error.h"

namespace moiety::kernels::cuda {
namespace {

#if defined(MOIETY_SIMT_EMULATED)
CublasLt open_cublaslt() {
  return {cublasLtCreate,
          cublasLtDestroy,
          cublasLtMatmul,
          cublasLtMatmulAlgoGetHeuristic,
          cublasLtMatmulDescCreate,
          cublasLtMatmulDescDestroy,
          cublasLtMatmulDescSetAttribute,
          cublasLtMatrixLayoutCreate,
          cublasLtMatrixLayoutDestroy,
          cublasLtMatrixLayoutSetAttribute,
          cublasLtMatmulPreferenceCreate,
          cublasLtMatmulPreferenceDestroy,
          cublasLtMatmulPreferenceSetAttribute};
}
#else
/// The library stays open until the program ends, as its functions do.
class Library {
 public:
  explicit Library(const std::string& name)
      : name_(name), handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    check<CudaError>(handle_ != nullptr, "products on a GPU need ", name,
                     ", which cannot be opened (", dlerror(), "); install cuBLAS of CUDA ",
                     CUBLAS_VER_MAJOR, " or add its folder to LD_LIBRARY_PATH");
  }
  template <class F>
  void find(const char* symbol, F& function) const {
    function = reinterpret_cast<F>(dlsym(handle_, symbol));
    check<CudaError>(function != nullptr, name_, " has no ", symbol);
  }

 private:
  std::string name_;
  void* handle_;
};

CublasLt open_cublaslt() {
  const Library library(concat("libcublasLt.so.", CUBLAS_VER_MAJOR));
  CublasLt out;
  library.find("cublasLtCreate", out.create);
  library.find("cublasLtDestroy", out.destroy);
  library.find("cublasLtMatmul", out.matmul);
  library.find("cublasLtMatmulAlgoGetHeuristic", out.get_heuristic);
  library.find("cublasLtMatmulDescCreate", out.create_operation);
  library.find("cublasLtMatmulDescDestroy", out.destroy_operation);
  library.find("cublasLtMatmulDescSetAttribute", out.set_operation);
  library.find("cublasLtMatrixLayoutCreate", out.create_layout);
  library.find("cublasLtMatrixLayoutDestroy", out.destroy_layout);
  library.find("cublasLtMatrixLayoutSetAttribute", out.set_layout);
  library.find("cublasLtMatmulPreferenceCreate", out.create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", out.destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", out.set_preference);
  return out;
}
#endif

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt functions = open_cublaslt();
  return functions;
}

void cublas_check(cublasStatus_t status, const std::source_location& where) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  throw CudaError(concat(where.file_name(), ":", where.line(), ": cuBLASLt returned status ",
                         static_cast<int>(status)));
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <source_location>

namespace moiety::kernels::cuda {

/// The functions of cuBLASLt, found at first use: a program that never multiplies on a GPU starts
/// without its half second of loading, and on machines that lack it.
struct CublasLt {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) get_heuristic;
  decltype(&cublasLtMatmulDescCreate) create_operation;
  decltype(&cublasLtMatmulDescDestroy) destroy_operation;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation;
  decltype(&cublasLtMatrixLayoutCreate) create_layout;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
};

/// Throws CudaError naming the library and what to install where it cannot be opened.
const CublasLt& cublaslt();

/// Throws CudaError naming the caller's line and the status.
void cublas_check(cublasStatus_t status,
                  const std::source_location& where = std::source_location::current());

}  // namespace moiety::kernels::cuda

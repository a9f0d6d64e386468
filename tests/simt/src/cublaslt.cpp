// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/tensor_cores.h"

struct cublasLtContext {};

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N;
  cublasOperation_t transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct cublasLtMatmulPreferenceOpaque_t {
  std::uint32_t alignment = 256;
};

namespace {

using Layout = cublasLtMatrixLayoutOpaque_t;

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

/// A factor of a product in tf32: the units round it.
struct Rounded {
  float value;
};

float load(float x) { return x; }
float load(Rounded x) { return simt::tf32_value(simt::to_tf32(x.value)); }
double load(double x) { return x; }
float load(Brain x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
float load(Half x) {
  const std::uint32_t sign = (x.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (x.bits >> 10) & 0x1fU;
  const std::uint32_t fraction = x.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

void put(float& to, float x) { to = x; }
void put(double& to, double x) { to = x; }
void put(Brain& to, float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  to.bits = static_cast<std::uint16_t>(x != x ? (bits >> 16) | 0x40U
                                              : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
void put(Half& to, float x) { to.bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)); }

/// d [m, n] column by column; op(a) [m, k], op(b) [k, n] of type A.
template <class A, class T, class F>
struct Product {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  const A* a;
  std::int64_t lda, stride_a;
  const A* b;
  std::int64_t ldb, stride_b;
  const T* c;
  T* d;
  std::int64_t ldd, stride_d;
  const T* bias;
  bool relu;
  F alpha, beta;
};

constexpr int kTile = 32;  // rows of d that one thread computes at a time

/// A thread computes one column of d.
template <class A, class T, class F>
void product_kernel(Product<A, T, F> p) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= p.n) return;
  const A* a = p.a + blockIdx.y * p.stride_a;
  const A* b = p.b + blockIdx.y * p.stride_b;
  const std::int64_t place = blockIdx.y * p.stride_d + j * p.ldd;
  for (std::int64_t first = 0; first < p.m; first += kTile) {
    const std::int64_t rows = std::min<std::int64_t>(kTile, p.m - first);
    F sum[kTile] = {};
    for (std::int64_t l = 0; l < p.k; ++l) {
      const F factor = load(b[p.transpose_b ? l * p.ldb + j : j * p.ldb + l]);
      const A* from = a + (p.transpose_a ? first * p.lda + l : l * p.lda + first);
      const std::int64_t step = p.transpose_a ? p.lda : 1;
      for (std::int64_t i = 0; i < rows; ++i) sum[i] += factor * load(from[i * step]);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t at = place + first + i;
      F value = p.alpha * sum[i];
      if (p.beta != F{0}) value += p.beta * load(p.c[at]);
      if (p.bias != nullptr) value += load(p.bias[first + i]);
      if (p.relu && !(value > F{0})) value = value != value ? value : F{0};
      put(p.d[at], value);
    }
  }
}

struct Call {
  const cublasLtMatmulDescOpaque_t& operation;
  const void* alpha;
  const void* a;
  const Layout& a_layout;
  const void* b;
  const Layout& b_layout;
  const void* beta;
  const void* c;
  void* d;
  const Layout& d_layout;
  cudaStream_t stream;
};

template <class A, class T, class F>
cublasStatus_t run(const Call& x) {
  const auto& op = x.operation;
  Product<A, T, F> p;
  p.transpose_a = op.transpose_a == CUBLAS_OP_T;
  p.transpose_b = op.transpose_b == CUBLAS_OP_T;
  p.m = x.d_layout.rows;
  p.n = x.d_layout.columns;
  p.k = p.transpose_a ? x.a_layout.rows : x.a_layout.columns;
  p.a = static_cast<const A*>(x.a);
  p.lda = x.a_layout.leading;
  p.stride_a = x.a_layout.stride;
  p.b = static_cast<const A*>(x.b);
  p.ldb = x.b_layout.leading;
  p.stride_b = x.b_layout.stride;
  p.c = static_cast<const T*>(x.c);
  p.d = static_cast<T*>(x.d);
  p.ldd = x.d_layout.leading;
  p.stride_d = x.d_layout.stride;
  const bool biased = (op.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  p.bias = biased ? static_cast<const T*>(op.bias) : nullptr;
  p.relu = (op.epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
  std::memcpy(&p.alpha, x.alpha, sizeof p.alpha);
  std::memcpy(&p.beta, x.beta, sizeof p.beta);
  constexpr unsigned kThreads = 64;
  const dim3 grid(static_cast<unsigned>((p.n + kThreads - 1) / kThreads),
                  static_cast<unsigned>(x.d_layout.batch));
  const auto status = simt::launch(product_kernel<A, T, F>, grid, dim3(kThreads), 0, x.stream, p);
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool fits(const cublasLtMatmulDescOpaque_t& op, const Layout& a, const Layout& b, const Layout& d) {
  const bool turn_a = op.transpose_a == CUBLAS_OP_T;
  const bool turn_b = op.transpose_b == CUBLAS_OP_T;
  const auto well_formed = [](const Layout& x) { return x.rows > 0 && x.leading >= x.rows; };
  const bool halves = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
  return well_formed(a) && well_formed(b) && well_formed(d) && a.type == b.type &&
         (d.type == a.type || (halves && d.type == CUDA_R_32F)) && a.batch == d.batch &&
         b.batch == d.batch && (turn_a ? a.columns : a.rows) == d.rows &&
         (turn_b ? b.rows : b.columns) == d.columns &&
         (turn_a ? a.rows : a.columns) == (turn_b ? b.columns : b.rows);
}

bool is_aligned(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Sets a field from an attribute's bytes.
template <class T>
cublasStatus_t assign(T& field, const void* value, std::size_t bytes) {
  if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  *operation = new cublasLtMatmulDescOpaque_t{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return assign(operation->transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return assign(operation->transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return assign(operation->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return assign(operation->bias, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *layout = new Layout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                       leading};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  return attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? assign(layout->batch, value, bytes)
                                                         : assign(layout->stride, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
  std::uint32_t alignment = 0;
  const cublasStatus_t status = assign(alignment, value, bytes);
  preference->alignment = std::min(preference->alignment, alignment);
  return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  const bool wide = d->type == CUDA_R_64F;
  const bool known = fits(*operation, *a, *b, *d) &&
                     operation->scale == (wide ? CUDA_R_64F : CUDA_R_32F) &&
                     (operation->compute == CUBLAS_COMPUTE_64F) == wide &&
                     (!wide || operation->epilogue == CUBLASLT_EPILOGUE_DEFAULT);
  *found = known ? 1 : 0;
  if (!known) return CUBLAS_STATUS_NOT_SUPPORTED;
  *results = {};
  results->algo.data[0] = preference->alignment;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void*, std::size_t,
                              cudaStream_t stream) {
  const std::uint64_t alignment = std::max<std::uint64_t>(1, algorithm->data[0]);
  if (!fits(*operation, *a_layout, *b_layout, *d_layout) || !is_aligned(a, alignment) ||
      !is_aligned(b, alignment) || !is_aligned(c, alignment) || !is_aligned(d, alignment)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Call call{*operation, alpha, a, *a_layout, b, *b_layout, beta, c, d, *d_layout, stream};
  const bool widens = d_layout->type != a_layout->type;
  switch (a_layout->type) {
    case CUDA_R_32F:
      return operation->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? run<Rounded, float, float>(call)
                                                                : run<float, float, float>(call);
    case CUDA_R_64F:
      return run<double, double, double>(call);
    case CUDA_R_16F:
      return widens ? run<Half, float, float>(call) : run<Half, Half, float>(call);
    case CUDA_R_16BF:
      return widens ? run<Brain, float, float>(call) : run<Brain, Brain, float>(call);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

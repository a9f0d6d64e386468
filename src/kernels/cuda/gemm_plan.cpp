// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/gemm_plan.h"

#include "tensor/cuda/check.h"
#include "tensor/cuda/native.h"

namespace moiety::kernels::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CUDA_R_32F;
    case DType::f64:
      return CUDA_R_64F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    default:
      throw DTypeError("products take floating types, not " + name_of(dtype));
  }
}

cublasComputeType_t compute_type(const GemmProblem& problem) {
  if (problem.dtype == DType::f64) return CUBLAS_COMPUTE_64F;
  return problem.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  cublas_check(cublaslt().set_operation(operation, attribute, &value, sizeof value));
}

template <class T>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  cublas_check(cublaslt().set_preference(preference, attribute, &value, sizeof value));
}

struct OperationDeleter {
  void operator()(cublasLtMatmulDesc_t operation) const { cublaslt().destroy_operation(operation); }
};
struct LayoutDeleter {
  void operator()(cublasLtMatrixLayout_t layout) const { cublaslt().destroy_layout(layout); }
};
struct PreferenceDeleter {
  void operator()(cublasLtMatmulPreference_t p) const { cublaslt().destroy_preference(p); }
};
using Operation = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, OperationDeleter>;
using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, LayoutDeleter>;
using Preference =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, PreferenceDeleter>;

/// A row-major matrix [rows, columns] as cuBLASLt sees it: column by column, so transposed.
Layout make_layout(const GemmProblem& problem, DType dtype, std::int64_t rows,
                   std::int64_t columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  cublas_check(cublaslt().create_layout(&layout, data_type(dtype),
                                        static_cast<std::uint64_t>(columns),
                                        static_cast<std::uint64_t>(rows), columns));
  Layout out(layout);
  if (problem.batch > 1) {
    const auto count = static_cast<std::int32_t>(problem.batch);
    const std::int64_t stride = rows * columns;
    cublas_check(
        cublaslt().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    cublas_check(cublaslt().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                       sizeof stride));
  }
  return out;
}

/// What is transposed for cuBLASLt is c^T = op(b)^T op(a)^T: b comes first.
Operation make_operation(const GemmProblem& problem) {
  const cudaDataType_t scale = problem.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
  cublasLtMatmulDesc_t operation = nullptr;
  cublas_check(cublaslt().create_operation(&operation, compute_type(problem), scale));
  Operation out(operation);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, problem.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, problem.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (problem.bias) epilogue = CUBLASLT_EPILOGUE_BIAS;
  if (problem.relu) epilogue = problem.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  return out;
}

}  // namespace

class GemmPlans::Plan {
 public:
  Plan(cublasLtHandle_t handle, const GemmProblem& p)
      : operation_(make_operation(p)),
        a_(make_layout(p, p.dtype, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k)),
        b_(make_layout(p, p.dtype, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n)),
        c_(make_layout(p, p.result, p.m, p.n)) {
    cublasLtMatmulPreference_t made = nullptr;
    cublas_check(cublaslt().create_preference(&made));
    const Preference preference(made);
    set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(made, attribute, p.alignment);
    }
    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    cublas_check(cublaslt().get_heuristic(handle, operation_.get(), b_.get(), a_.get(), c_.get(),
                                          c_.get(), made, 1, &best, &found));
    check<CudaError>(found > 0, "cuBLASLt has no algorithm for a product of [", p.m, ", ", p.k,
                     "] by [", p.k, ", ", p.n, "] in ", name_of(p.dtype));
    algorithm_ = best.algo;
  }

  void run(cublasLtHandle_t handle, const GemmProblem& problem, const GemmOperands& x,
           const Storage& workspace, cudaStream_t stream) const {
    if (problem.bias) set(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, x.bias);
    const auto alpha = static_cast<float>(x.alpha);
    const auto beta = static_cast<float>(x.beta);
    const bool wide = problem.dtype == DType::f64;
    cublas_check(cublaslt().matmul(
        handle, operation_.get(), wide ? static_cast<const void*>(&x.alpha) : &alpha, x.b, b_.get(),
        x.a, a_.get(), wide ? static_cast<const void*>(&x.beta) : &beta, x.c, c_.get(), x.c,
        c_.get(), &algorithm_, workspace.data(), workspace.bytes(), stream));
  }

 private:
  Operation operation_;
  Layout a_;
  Layout b_;
  Layout c_;
  cublasLtMatmulAlgo_t algorithm_;
};

GemmPlans& GemmPlans::of(CudaDevice& device) {
  std::shared_ptr<void>& slot = device.gemm_state();
  if (slot == nullptr) slot = std::make_shared<GemmPlans>(device);
  return *static_cast<GemmPlans*>(slot.get());
}

GemmPlans::GemmPlans(CudaDevice& device) : device_(device) {
  use_device(device.index());
  workspace_.emplace(device, kWorkspaceBytes);  // first: it throws where memory has run out
  cublas_check(cublaslt().create(&handle_));
}

GemmPlans::~GemmPlans() { cublaslt().destroy(handle_); }

GemmPlans::Plan& GemmPlans::plan_of(const GemmProblem& problem) {
  std::unique_ptr<Plan>& plan = plans_[problem];
  if (plan == nullptr) plan = std::make_unique<Plan>(handle_, problem);
  return *plan;
}

void GemmPlans::run(const Stream& stream, const GemmProblem& problem,
                    const GemmOperands& operands) {
  use_device(device_.index());
  const std::lock_guard lock(mutex_);
  plan_of(problem).run(handle_, problem, operands, *workspace_, native(stream));
}

}  // namespace moiety::kernels::cuda

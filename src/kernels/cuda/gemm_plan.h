// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "kernels/cuda/cublaslt.h"
#include "tensor/cuda/cuda_device.h"
#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace moiety::kernels::cuda {

/// A row-major product c [M, N] = op(a) op(b) and what follows it: all that cuBLASLt's choice of an
/// algorithm depends on.
struct GemmProblem {
  DType dtype;   ///< of a and b
  DType result;  ///< of c and the bias
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool bias = false;
  bool relu = false;
  bool tf32 = false;
  std::uint32_t alignment = 16;  ///< bytes that divide every address

  auto operator<=>(const GemmProblem&) const = default;
};

struct GemmOperands {
  const void* a;
  const void* b;
  void* c;
  const void* bias = nullptr;
  double alpha = 1;
  double beta = 0;
};

/// The cuBLASLt handle of a GPU, its workspace and the plans made so far: descriptors and the
/// algorithm of each problem, so that only the first product of its kind asks for one.
class GemmPlans {
 public:
  /// Those of the device, made at first use.
  static GemmPlans& of(CudaDevice& device);
  explicit GemmPlans(CudaDevice& device);
  ~GemmPlans();
  GemmPlans(const GemmPlans&) = delete;
  GemmPlans& operator=(const GemmPlans&) = delete;

  /// Queues the product on the stream.
  void run(const Stream& stream, const GemmProblem& problem, const GemmOperands& operands);

  /// What another library keeps for the same GPU: cuDNN's attention, whose operands come from here.
  std::shared_ptr<void>& attention_state() { return attention_state_; }

 private:
  class Plan;

  Plan& plan_of(const GemmProblem& problem);

  CudaDevice& device_;
  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
  std::optional<Storage> workspace_;
  std::map<GemmProblem, std::unique_ptr<Plan>> plans_;
  std::shared_ptr<void> attention_state_;
};

}  // namespace moiety::kernels::cuda

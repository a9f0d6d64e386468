// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cudnn_attention.h"

#include "kernels/cuda/attention_graph.h"
#include "tensor/error.h"

namespace moiety::kernels::cuda {
namespace {

void check_is_known(const AttentionRule& rule, const AttentionInputs& in) {
  check<UserError>(rule.dropout == 0,
                   "cuDNN's attention drops other weights than ours: set model.attention_dropout "
                   "= 0, or run.attention = \"own\"");
  check<UserError>(!in.bias.defined(),
                   "cuDNN's attention is used without a bias here; set run.attention = \"own\"");
  check<UserError>(!rule.causal || in.query_ptr.data == in.key_ptr.data,
                   "cuDNN's causal attention wants as many keys as queries in each sequence; set "
                   "run.attention = \"own\"");
}

}  // namespace
}  // namespace moiety::kernels::cuda

#if defined(MOIETY_HAS_CUDNN)
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/cuda/gemm_plan.h"
#include "kernels/cuda/sequence_layout.h"
#include "tensor/cuda/check.h"
#include "tensor/cuda/cuda_device.h"
#include "tensor/cuda/native.h"
#include "tensor/storage.h"

namespace moiety::kernels::cuda {
namespace {

/// A graph and the fastest of cuDNN's ways to run it.
class AttentionPlan {
 public:
  AttentionPlan(cudnnHandle_t handle, const AttentionGraphKey& key) : graph_(key) {
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const CudnnDescriptor& each : graph_.operations()) operations.push_back(each.get());
    CudnnDescriptor all(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    all.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::ssize(operations),
             operations.data())
        .finish();
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    CudnnDescriptor ways(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    ways.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, all)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode)
        .finish();
    constexpr std::int64_t kMostWays = 8;
    std::vector<CudnnDescriptor> found;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < kMostWays; ++i) {
      raw.push_back(found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
    }
    std::int64_t count = 0;
    cudnn_check(cudnn().get_attribute(ways.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostWays, &count,
                                      raw.data()));
    for (std::int64_t i = 0; i < count && !plan_; ++i) {
      CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[static_cast<std::size_t>(i)]);
      // Some engines find out only here that they do not take it.
      if (cudnn().finalize(plan.get()) == CUDNN_STATUS_SUCCESS) plan_.emplace(std::move(plan));
    }
    check<CudaError>(plan_.has_value(), "cuDNN has no attention for heads of ", key.width, " in ",
                     name_of(key.dtype), " on this GPU; use run.attention = \"own\"");
    std::int64_t got = 0;
    cudnn_check(cudnn().get_attribute(plan_->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &got, &workspace_bytes_));
  }

  void run(cudnnHandle_t handle, const Stream& stream, const std::vector<std::int64_t>& numbers,
           std::vector<void*> places) const {
    const Storage workspace(stream.device(), static_cast<std::size_t>(workspace_bytes_));
    void* memory = workspace.data();
    CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::ssize(places),
             places.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &memory)
        .finish();
    cudnn_check(cudnn().execute(handle, plan_->get(), pack.get()));
  }

 private:
  AttentionGraph graph_;
  std::optional<CudnnDescriptor> plan_;
  std::int64_t workspace_bytes_ = 0;
};

/// The handle of a GPU and the plans made so far: making one takes cuDNN a second.
class AttentionPlans {
 public:
  static AttentionPlans& of(CudaDevice& device) {
    std::shared_ptr<void>& slot = GemmPlans::of(device).attention_state();
    if (slot == nullptr) slot = std::make_shared<AttentionPlans>(device);
    return *static_cast<AttentionPlans*>(slot.get());
  }
  explicit AttentionPlans(const CudaDevice& device) {
    use_device(device.index());
    cudnn_check(cudnn().create(&handle_));
  }
  ~AttentionPlans() { cudnn().destroy(handle_); }
  AttentionPlans(const AttentionPlans&) = delete;
  AttentionPlans& operator=(const AttentionPlans&) = delete;

  void run(const Stream& stream, const AttentionGraphKey& key,
           const std::vector<std::int64_t>& numbers, const std::vector<void*>& places) {
    use_device(stream.device().index());
    const std::lock_guard lock(mutex_);
    cudnn_check(cudnn().set_stream(handle_, native(stream)));
    std::unique_ptr<AttentionPlan>& plan = plans_[key];
    if (plan == nullptr) plan = std::make_unique<AttentionPlan>(handle_, key);
    plan->run(handle_, stream, numbers, places);
  }

 private:
  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
  std::map<AttentionGraphKey, std::unique_ptr<AttentionPlan>> plans_;
};

AttentionGraphKey key_of(const AttentionRule& rule, const AttentionInputs& in) {
  AttentionGraphKey key{.dtype = in.q.dtype,
                        .causal = rule.causal,
                        .sequences = in.query_ptr.numel() - 1,
                        .heads = in.q.size(1),
                        .key_heads = in.k.size(1),
                        .width = in.q.size(2)};
  const std::int64_t tokens = std::max(in.q.size(0), in.k.size(0));
  key.longest = rule.row_stride > 0 ? std::min(rule.row_stride, tokens) : tokens;
  for (int d = 0; d < 2; ++d) {
    key.q_strides[d] = in.q.strides[d];
    key.k_strides[d] = in.k.strides[d];
    key.v_strides[d] = in.v.strides[d];
  }
  return key;
}

}  // namespace

void cudnn_attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                     const TensorView& out, const TensorView& lse) {
  check_is_known(rule, in);
  if (in.q.numel() == 0) return;
  Device& device = stream.device();
  const AttentionGraphKey key = key_of(rule, in);
  const std::int64_t b = key.sequences;
  const auto bytes = [](std::int64_t count, std::size_t size) {
    return static_cast<std::size_t>(count) * size;
  };
  const Storage lengths_memory(device, bytes(2 * b, sizeof(std::int32_t)));
  const Storage offsets_memory(device, bytes(5 * (b + 1), sizeof(std::int64_t)));
  auto* const lengths = reinterpret_cast<std::int32_t*>(lengths_memory.data());
  auto* const offsets = reinterpret_cast<std::int64_t*>(offsets_memory.data());
  const std::int64_t row = key.heads * key.width;
  sequence_layout(stream, in.query_ptr, {key.q_strides[0], row, key.heads}, lengths, offsets);
  sequence_layout(stream, in.key_ptr, {key.k_strides[0], key.v_strides[0]}, lengths + b,
                  offsets + 3 * (b + 1));
  auto scale = static_cast<float>(rule.scale);
  float minus_infinity = -std::numeric_limits<float>::infinity();
  const std::pair<GraphTensor, void*> operands[] = {
      {GraphTensor::q, in.q.data},
      {GraphTensor::k, in.k.data},
      {GraphTensor::v, in.v.data},
      {GraphTensor::out, out.data},
      {GraphTensor::lse, lse.data},
      {GraphTensor::scale, &scale},
      {GraphTensor::minus_infinity, &minus_infinity},
      {GraphTensor::query_lengths, lengths},
      {GraphTensor::key_lengths, lengths + b},
      {GraphTensor::q_offsets, offsets},
      {GraphTensor::out_offsets, offsets + (b + 1)},
      {GraphTensor::lse_offsets, offsets + 2 * (b + 1)},
      {GraphTensor::k_offsets, offsets + 3 * (b + 1)},
      {GraphTensor::v_offsets, offsets + 4 * (b + 1)}};
  std::vector<std::int64_t> numbers;
  std::vector<void*> places;
  for (const auto& [number, place] : operands) {
    numbers.push_back(static_cast<std::int64_t>(number));
    places.push_back(place);
  }
  AttentionPlans::of(static_cast<CudaDevice&>(device)).run(stream, key, numbers, places);
}

}  // namespace moiety::kernels::cuda

#else

namespace moiety::kernels::cuda {

void cudnn_attention(const Stream&, const AttentionRule& rule, const AttentionInputs& in,
                     const TensorView&, const TensorView&) {
  check_is_known(rule, in);
#if defined(MOIETY_SIMT_EMULATED)
  throw CudaError("the emulated GPU has no cuDNN: set run.attention = \"own\"");
#else
  throw CudaError(
      "this build has no cuDNN: install its headers and build again, or set run.attention = "
      "\"own\"");
#endif
}

}  // namespace moiety::kernels::cuda
#endif

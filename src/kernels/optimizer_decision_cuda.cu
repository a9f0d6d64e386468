// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/optimizer_step.h"
#include "tensor/storage.h"

// What a step decides before it moves parameters.
namespace moiety::kernels::cuda {
namespace {

/// partial[block] = sum of the squares of every gridDim.x-th run of elements. What a thread adds,
/// and in which order, does not depend on `aligned`, whether 16 bytes are read at a time.
template <class T>
__global__ void squared_norm_kernel(const T* __restrict__ x, std::int64_t size, bool aligned,
                                    double* __restrict__ partial) {
  MOIETY_SHARED(double, scratch, [kWarp]);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * kWide<T>;
  double sum = 0;
  for (std::int64_t first = pack_number() * kWide<T>; first < size; first += step) {
    const int count = elements_at<kWide<T>>(first, size);
    Pack<T, kWide<T>> pack;
    if (aligned) {
      load_some(pack, x + first, count);
    } else {
#pragma unroll
      for (int i = 0; i < kWide<T>; ++i) pack.v[i] = i < count ? widen(x[first + i]) : 0;
    }
#pragma unroll
    for (int i = 0; i < kWide<T>; ++i) {
      const auto value = static_cast<double>(pack.v[i]);
      sum += value * value;
    }
  }
  sum = block_reduce(sum, Sum{}, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// One block: the sum of what the blocks above have left.
__global__ void sum_partials_kernel(const double* __restrict__ partial, int count,
                                    double* __restrict__ out) {
  MOIETY_SHARED(double, scratch, [kWarp]);
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    sum += partial[i];
  }
  sum = block_reduce(sum, Sum{}, scratch);
  if (threadIdx.x == 0) *out = sum;
}

__global__ void begin_step_kernel(StepRule rule, const double* __restrict__ lr,
                                  StepDecision* __restrict__ step) {
  decide(rule, *lr, *step);
}

template <class T>
__global__ void add_loss_kernel(const T* __restrict__ loss, const T* __restrict__ scale, bool first,
                                StepDecision* __restrict__ step) {
  const double value = static_cast<double>(widen(*loss)) * static_cast<double>(widen(*scale));
  step->loss = first ? value : step->loss + value;
}

template <class T>
__global__ void loss_seed_kernel(const T* __restrict__ scale, const StepDecision* __restrict__ step,
                                 T* __restrict__ seed) {
  *seed = static_cast<T>(static_cast<double>(*scale) * loss_scale_of(*step));
}

}  // namespace

void squared_norm_into(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.contiguous() && out.numel() == 1);
  constexpr std::int64_t kPacksOfThread = 4;
  constexpr std::int64_t kMostBlocks = 1024;
  const std::int64_t size = x.numel();
  double* const total = out.as<double>();
  visit_floating(x.dtype, [&]<class T>() {
    const T* values = x.as<T>();
    const std::int64_t share = kPacksOfThread * kWide<T>;
    const unsigned blocks = blocks_for((size + share - 1) / share, kMapBlock, kMostBlocks);
    const Storage scratch(stream.device(), blocks * sizeof(double));
    auto* partial = reinterpret_cast<double*>(scratch.data());
    launch(squared_norm_kernel<T>, Threads(dim3(blocks), dim3(kMapBlock)), stream, values, size,
           is_aligned(values), partial);
    launch(sum_partials_kernel, Threads(dim3(1), dim3(kMapBlock)), stream, partial,
           static_cast<int>(blocks), total);
  });
}

void begin_step(const Stream& stream, const StepRule& rule, const TensorView& lr,
                const TensorView& decision) {
  launch(begin_step_kernel, Threads(dim3(1), dim3(1)), stream, rule, number_in(lr),
         decision_in(decision));
}

void add_loss(const Stream& stream, const TensorView& loss, const TensorView& scale, bool first,
              const TensorView& decision) {
  MOIETY_CHECK(loss.numel() == 1 && scale.numel() == 1, "add_loss: ", loss.shape);
  visit_floating(loss.dtype, [&]<class T>() {
    launch(add_loss_kernel<T>, Threads(dim3(1), dim3(1)), stream, loss.as<T>(), scale.as<T>(),
           first, decision_in(decision));
  });
}

void loss_seed(const Stream& stream, const TensorView& scale, const TensorView& decision,
               const TensorView& seed) {
  visit_float(seed.dtype, [&]<class T>() {
    launch(loss_seed_kernel<T>, Threads(dim3(1), dim3(1)), stream, scale.as<T>(),
           decision_in(decision), seed.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

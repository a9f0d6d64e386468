// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/sequence_layout.h"
#include "kernels/cuda/simt.cuh"
#include "tensor/error.h"

namespace moiety::kernels::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kMostStrides = 4;

struct Strides {
  std::int64_t of[kMostStrides];
};

__global__ void sequence_layout_kernel(const std::int32_t* __restrict__ ptr, int sequences,
                                       Strides strides, int count,
                                       std::int32_t* __restrict__ lengths,
                                       std::int64_t* __restrict__ offsets) {
  const int b = static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
  if (b > sequences) return;
  const std::int32_t begin = ptr[b];
  if (b < sequences) lengths[b] = ptr[b + 1] - begin;
#pragma unroll
  for (int i = 0; i < kMostStrides; ++i) {
    if (i < count) offsets[i * (sequences + 1) + b] = begin * strides.of[i];
  }
}

}  // namespace

void sequence_layout(const Stream& stream, const TensorView& ptr,
                     const std::vector<std::int64_t>& strides, std::int32_t* lengths,
                     std::int64_t* offsets) {
  const std::int64_t entries = ptr.numel();
  MOIETY_CHECK(std::ssize(strides) <= kMostStrides);
  Strides values{};
  for (std::size_t i = 0; i < strides.size(); ++i) values.of[i] = strides[i];
  launch(sequence_layout_kernel, Threads(dim3(blocks_for(entries, kBlock)), dim3(kBlock)), stream,
         ptr.as<std::int32_t>(), static_cast<int>(entries - 1), values,
         static_cast<int>(strides.size()), lengths, offsets);
}

}  // namespace moiety::kernels::cuda

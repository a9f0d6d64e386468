// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/rotary.h"

namespace moiety::kernels::cuda {
namespace {

constexpr int kBlock = 256;

/// A thread turns kCount neighbouring pairs of one head. `packs` of them make a head.
template <class T, int kCount>
__global__ void rotary_kernel(std::int64_t total, std::int64_t heads, std::int64_t packs,
                              std::int64_t token_stride, std::int64_t head_stride, Compute<T> sign,
                              const T* __restrict__ x, const std::int32_t* __restrict__ positions,
                              const Compute<T>* __restrict__ table, T* __restrict__ out) {
  const std::int64_t half = packs * kCount;
  for (std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x; n < total;
       n += static_cast<std::int64_t>(gridDim.x) * kBlock) {
    const std::int64_t i = n % packs * kCount;
    const std::int64_t head = n / packs;
    const std::int64_t token = head / heads;
    const T* from = x + token * token_stride + head % heads * head_stride + i;
    const Compute<T>* angles = table + positions[token] * 2 * half + i;
    Pack<T, kCount> a;
    Pack<T, kCount> b;
    a.load(from);
    b.load(from + half);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const auto cosine = angles[k];
      const auto sine = sign * angles[half + k];
      const auto turned = a.v[k] * cosine - b.v[k] * sine;
      b.v[k] = a.v[k] * sine + b.v[k] * cosine;
      a.v[k] = turned;
    }
    a.store(out + head * 2 * half + i);
    b.store(out + head * 2 * half + half + i);
  }
}

}  // namespace

void rotary(const Stream& stream, bool back, const TensorView& x, const TensorView& positions,
            const TensorView& table, const TensorView& out) {
  const std::int64_t heads = x.shape[1];
  const std::int64_t half = x.shape[2] / 2;
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = out.as<T>();
    const bool aligned = x.strides[0] % kWide<T> == 0 && x.strides[1] % kWide<T> == 0;
    visit_width<T>(
        aligned ? half : 1,
        [&]<int kCount>() {
          const std::int64_t packs = half / kCount;
          const std::int64_t total = x.shape[0] * heads * packs;
          launch(rotary_kernel<T, kCount>, Threads(dim3(blocks_for(total, kBlock)), dim3(kBlock)),
                 stream, total, heads, packs, x.strides[0], x.strides[1],
                 static_cast<Compute<T>>(back ? -1 : 1), from, positions.as<std::int32_t>(),
                 table.as<Compute<T>>(), to);
        },
        from, to);
  });
}

}  // namespace moiety::kernels::cuda

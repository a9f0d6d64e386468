// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/walk.cuh"
#include "tensor/view.h"

// Element-wise kernels: a thread computes a pack of the output, 16 bytes where the operands allow.
// For .cu files alone.
namespace moiety::kernels::cuda {

inline constexpr int kMapBlock = 256;  ///< threads of a block

/// Like Pack, for elements that are moved and not computed with: T is an unsigned integer.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Bits {
  T v[kCount];

  __device__ void fill(T x) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = x;
  }
  __device__ void load(const T* from) { *this = *reinterpret_cast<const Bits*>(from); }
  __device__ void store(T* to) const { store_bytes(*this, to); }
};

/// Calls f.template operator()<T>() with an unsigned integer of the size of an element.
template <class F>
void visit_size(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

/// Whether 16 bytes can be read or written there at a time.
inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

/// The last pack may have fewer than kCount elements: reads `count` from `from`, the rest is 0.
template <template <class, int> class Packed, class T, int kCount>
__device__ void load_some(Packed<T, kCount>& pack, const T* from, int count) {
  if (count >= kCount) return pack.load(from);
  pack.fill(0);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i >= count) continue;
    Packed<T, 1> one;
    one.load(from + i);
    pack.v[i] = one.v[0];
  }
}

/// Writes the first `count` elements of a pack.
template <template <class, int> class Packed, class T, int kCount>
__device__ void store_some(const Packed<T, kCount>& pack, T* to, int count) {
  if (count >= kCount) return pack.store(to);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i >= count) continue;
    Packed<T, 1> one;
    one.v[0] = pack.v[i];
    one.store(to + i);
  }
}

/// The number of this thread, in a launch of a thread a pack.
__device__ inline std::int64_t pack_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// How many of the kCount elements from number `first` there are.
template <int kCount>
__device__ int elements_at(std::int64_t first, std::int64_t size) {
  return size - first < kCount ? static_cast<int>(size - first) : kCount;
}

/// A thread for each pack of `count` of `size` elements. Fewer than 2^39 packs.
inline Threads pack_threads(std::int64_t size, int count,
                            const std::source_location& where = std::source_location::current()) {
  const std::int64_t packs = (size + count - 1) / count;
  return {dim3(blocks_for(packs, kMapBlock, kMostPacks)), dim3(kMapBlock), 0, where};
}

template <class T, int kInputs>
struct Operands {
  const T* data[kInputs];
};

/// out = f(in...), element by element: inputs follow the walk, the output is contiguous. It may be
/// one of the inputs, of which a thread then reads what it writes itself, hence no __restrict__.
template <template <class, int> class Packed, class T, int kCount, int kInputs, class F>
__global__ void map_kernel(Walk<kInputs> walk, Operands<T, kInputs> in, F f, T* out) {
  const std::int64_t number = pack_number();
  const std::int64_t first = number * kCount;
  if (first >= walk.size) return;
  const int count = elements_at<kCount>(first, walk.size);
  std::int64_t at[kInputs];
  walk.locate(static_cast<std::uint32_t>(number), at);
  Packed<T, kCount> x[kInputs];
#pragma unroll
  for (int i = 0; i < kInputs; ++i) {
    const T* from = in.data[i] + at[i];
    if (kCount > 1 && walk.inner[i] == 0) {
      Packed<T, 1> one;
      one.load(from);
      x[i].fill(one.v[0]);
    } else {
      load_some(x[i], from, count);
    }
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    if constexpr (kInputs == 1) {
      x[0].v[j] = f(x[0].v[j]);
    } else {
      x[0].v[j] = f(x[0].v[j], x[1].v[j]);
    }
  }
  store_some(x[0], out + first, count);
}

/// Queues out = f(inputs...), of elements of T that are read and written as Packed, for inputs that
/// broadcast to `out`, which is contiguous. Throws DTypeError for an input of another dtype.
template <template <class, int> class Packed, class T, int kInputs, class F>
void map(const Stream& stream, const TensorView& out,
         const std::array<const TensorView*, kInputs>& inputs, const F& f,
         const std::source_location& where = std::source_location::current()) {
  const cpu::LoopNest<kInputs> nest(out.shape, inputs);
  bool wide = in_packs(nest, kWide<T>) && is_aligned(out.data);
  for (int i = 0; i < kInputs; ++i) {
    check<DTypeError>(inputs[i]->dtype == out.dtype, "expected ", out.dtype, ", got ",
                      inputs[i]->dtype);
    const bool repeats = nest.inner_stride(i) == 0;
    wide = wide && (repeats || is_aligned(inputs[i]->data));
  }
  const auto run = [&]<int kCount>() {
    for_each_part(nest, kCount, [&](const auto& part, const auto& in, std::int64_t first) {
      const Walk<kInputs> walk = make_walk(part, kCount);
      Operands<T, kInputs> operands;
      for (int i = 0; i < kInputs; ++i) {
        operands.data[i] = static_cast<const T*>(inputs[i]->data) + in[i];
      }
      launch(map_kernel<Packed, T, kCount, kInputs, F>, pack_threads(walk.size, kCount, where),
             stream, walk, operands, f, static_cast<T*>(out.data) + first);
    });
  };
  wide ? run.template operator()<kWide<T>>() : run.template operator()<1>();
}

}  // namespace moiety::kernels::cuda

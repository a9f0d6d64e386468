// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/simt.cuh"
#include "tensor/dtype.h"

#if !defined(MOIETY_SIMT_EMULATED)
#include <cuda_fp16.h>
#endif

// Element types on a GPU: f32, f64, bf16 and f16. Halves are widened as they are read, computed in
// f32, and rounded as they are written. For .cu files alone.
namespace moiety::kernels::cuda {

template <class T>
struct ComputeOf {
  using Type = float;
};
template <>
struct ComputeOf<double> {
  using Type = double;
};
/// What elements of T are computed in.
template <class T>
using Compute = typename ComputeOf<T>::Type;

/// Calls f.template operator()<T>() with T = float, double, BFloat16 or Float16.
template <class F>
decltype(auto) visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f16:
      return f.template operator()<Float16>();
    default:
      throw DTypeError("this operation takes floating types, not " + name_of(dtype));
  }
}

__device__ inline float widen(float x) { return x; }
__device__ inline double widen(double x) { return x; }
__device__ inline float widen(BFloat16 x) {
  return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16);
}
__device__ inline float widen(Float16 x) {
#if defined(MOIETY_SIMT_EMULATED)
  return to_float(x);
#else
  return __half2float(__ushort_as_half(x.bits));
#endif
}

template <class T>
__device__ inline T narrow(Compute<T> x) {
  return x;
}
template <>
__device__ inline BFloat16 narrow<BFloat16>(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
template <>
__device__ inline Float16 narrow<Float16>(float x) {
#if defined(MOIETY_SIMT_EMULATED)
  return to_float16(x);
#else
  return {__half_as_ushort(__float2half_rn(x))};
#endif
}

/// *to = value. A plain assignment of 16 bytes is cut into smaller stores in unrolled and
/// conditional code.
template <class V>
__device__ inline void store_bytes(const V& value, void* to) {
  if constexpr (sizeof(V) % sizeof(uint4) == 0) {
    struct Words {
      uint4 v[sizeof(V) / sizeof(uint4)];
    };
    const auto words = std::bit_cast<Words>(value);
#pragma unroll
    for (std::size_t i = 0; i < sizeof(V) / sizeof(uint4); ++i) {
      __stcg(static_cast<uint4*>(to) + i, words.v[i]);
    }
  } else {
    *static_cast<V*>(to) = value;
  }
}

/// kCount consecutive elements in registers, read and written 16 bytes at a time, or at once where
/// they are fewer: at an address that is a multiple of that.
template <class T, int kCount>
struct Pack {
  Compute<T> v[kCount];

  __device__ void fill(Compute<T> x) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = x;
  }
  __device__ void load(const T* from) {
    const Raw raw = *reinterpret_cast<const Raw*>(from);
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = widen(raw.v[i]);
  }
  __device__ void store(T* to) const {
    Raw raw;
#pragma unroll
    for (int i = 0; i < kCount; ++i) raw.v[i] = narrow<T>(v[i]);
    store_bytes(raw, to);
  }

 private:
  struct alignas(std::min<std::size_t>(sizeof(T) * kCount, 16)) Raw {
    T v[kCount];
  };
};

/// Elements of T in 16 bytes.
template <class T>
inline constexpr int kWide = 16 / static_cast<int>(sizeof(T));

/// Calls f.template operator()<kWide<T>>() when rows of `columns` elements from each pointer can be
/// read 16 bytes at a time, else f.template operator()<1>(). Null pointers count for nothing.
template <class T, class F, class... Pointers>
decltype(auto) visit_width(std::int64_t columns, F&& f, const Pointers*... pointers) {
  const bool aligned = ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
  return aligned && columns % kWide<T> == 0 ? f.template operator()<kWide<T>>()
                                            : f.template operator()<1>();
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <math.h>

#include <bit>
#include <concepts>
#include <cstdint>

#include "simt/builtins.h"

// CUDA's arithmetic and memory intrinsics. The fast approximations are computed exactly: tests
// compare with a tolerance anyway.

// Always inlined, so that the checker names the kernel's line and not this file's.
template <class T>
__forceinline__ T __ldg(const T* memory) {
  return *memory;
}
template <class T>
__forceinline__ T __ldcg(const T* memory) {
  return *memory;
}
template <class T>
__forceinline__ T __ldcs(const T* memory) {
  return *memory;
}
template <class T>
__forceinline__ void __stcg(T* memory, T value) {
  *memory = value;
}
template <class T>
__forceinline__ void __stcs(T* memory, T value) {
  *memory = value;
}

// Redeclares what glibc declares but does not export: hence noexcept.
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return powf(10.0f, x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float rsqrtf(float x) noexcept { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) noexcept { return 1.0 / sqrt(x); }

inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(double{x})); }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

inline int __float2int_rn(float x) { return static_cast<int>(lrintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
  return reversed;
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(std::uint64_t{x} * y >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>(std::int64_t{x} * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(Wide{x} * y >> 64);
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}

// A NaN loses against a number, as on the GPU.
template <std::floating_point T>
T min(T a, T b) {
  return fmin(a, b);
}
template <std::floating_point T>
T max(T a, T b) {
  return fmax(a, b);
}
template <std::integral T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <std::integral T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

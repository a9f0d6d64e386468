// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

// bf16 and f16 on a CPU are ways to store f32: what computes reads and writes them through these.
namespace moiety::kernels {

/// Whether elements are stored in 16 bits and computed in f32.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

}  // namespace moiety::kernels
namespace moiety::kernels::cpu {

/// What elements stored as T are computed in.
template <class T>
struct ComputeOf {
  using Type = T;
};
template <>
struct ComputeOf<BFloat16> {
  using Type = float;
};
template <>
struct ComputeOf<Float16> {
  using Type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::Type;
template <class T>
inline constexpr bool kIsHalf = !std::is_same_v<T, Compute<T>>;

inline float widened(float x) { return x; }
inline double widened(double x) { return x; }
inline float widened(BFloat16 x) { return to_float(x); }
inline float widened(Float16 x) { return to_float(x); }

/// to[i] = from[i] for n consecutive elements of dtype bf16 or f16.
void widen(DType dtype, const void* from, std::int64_t n, float* to);
/// The reverse, rounded to nearest with ties to even; an overflow becomes infinity.
void narrow(const float* from, std::int64_t n, DType dtype, void* to);

/// Calls f.template operator()<T>() with the type that elements of a floating dtype are stored as.
/// Throws DTypeError for other dtypes.
template <class F>
decltype(auto) visit_storage(DType dtype, F&& f) {
  if (dtype == DType::bf16) return f.template operator()<BFloat16>();
  if (dtype == DType::f16) return f.template operator()<Float16>();
  return visit_float(dtype, static_cast<F&&>(f));
}

/// Calls f.template operator()<T>() with the type that elements of a floating dtype are computed
/// in: double for f64, else float. Throws DTypeError for other dtypes.
template <class F>
decltype(auto) visit_compute(DType dtype, F&& f) {
  return visit_float(is_half(dtype) ? DType::f32 : dtype, static_cast<F&&>(f));
}

}  // namespace moiety::kernels::cpu

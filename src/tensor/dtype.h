// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "tensor/error.h"

namespace moiety {

enum class DType : std::uint8_t { f32, f64, bf16, f16, i64, i32, u8, boolean };

/// bfloat16: storage only; arithmetic is done in f32.
struct BFloat16 {
  std::uint16_t bits;
};

/// IEEE half precision: storage only; arithmetic is done in f32.
struct Float16 {
  std::uint16_t bits;
};

/// Bytes of one element.
std::size_t size_of(DType dtype);

/// "f32", "i64", ...
std::string name_of(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);

constexpr bool is_floating(DType dtype) { return dtype <= DType::f16; }

template <class T>
inline constexpr DType kDTypeOf = [] {
  static_assert(sizeof(T) == 0, "no dtype for this type");
  return DType::f32;
}();
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<Float16> = DType::f16;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::u8;
template <>
inline constexpr DType kDTypeOf<bool> = DType::boolean;

/// Calls f.template operator()<T>() with T = float or double. Throws DTypeError for the rest.
template <class F>
decltype(auto) visit_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      throw DTypeError("this operation takes f32 or f64, not " + name_of(dtype));
  }
}

/// Calls f.template operator()<T>() with the element type of any dtype.
template <class F>
decltype(auto) visit_any(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f16:
      return f.template operator()<Float16>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::u8:
      return f.template operator()<std::uint8_t>();
    case DType::boolean:
      return f.template operator()<bool>();
  }
  throw DTypeError("unknown dtype");
}

inline float to_float(BFloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

/// Round to nearest, ties to even; NaN stays NaN.
inline BFloat16 to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

float to_float(Float16 x);
/// Round to nearest, ties to even; overflow becomes infinity.
Float16 to_float16(float x);

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <bit>

#include "kernels/cpu_halves.h"

namespace moiety::kernels::cpu {
namespace {

void widen_bf16(const BFloat16* from, std::int64_t n, float* to) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) to[i] = to_float(from[i]);
}

/// to_bfloat16 without a branch, so that loops vectorise.
BFloat16 rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest)};
}

void narrow_bf16(const float* from, std::int64_t n, BFloat16* to) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) to[i] = rounded(from[i]);
}

// Compilers do not vectorise these conversions by themselves.
void widen_f16(const Float16* from, std::int64_t n, float* to) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) to[i] = to_float(from[i]);
}

void narrow_f16(const float* from, std::int64_t n, Float16* to) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = to_float16(from[i]);
}

}  // namespace

void widen(DType dtype, const void* from, std::int64_t n, float* to) {
  MOIETY_CHECK(is_half(dtype), "widen: ", name_of(dtype));
  if (dtype == DType::bf16) return widen_bf16(static_cast<const BFloat16*>(from), n, to);
  widen_f16(static_cast<const Float16*>(from), n, to);
}

void narrow(const float* from, std::int64_t n, DType dtype, void* to) {
  MOIETY_CHECK(is_half(dtype), "narrow: ", name_of(dtype));
  if (dtype == DType::bf16) return narrow_bf16(from, n, static_cast<BFloat16*>(to));
  narrow_f16(from, n, static_cast<Float16*>(to));
}

}  // namespace moiety::kernels::cpu

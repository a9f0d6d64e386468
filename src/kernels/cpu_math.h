// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// Functions that loops over floats vectorise: no branches, no calls, always inlined. Errors of f32
// are within 3 ulp (tests/kernels/cpu_math_test.cpp states each); f64 calls the C library.
namespace moiety::kernels::cpu::math {

inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline double log1p(double x) { return std::log1p(x); }

/// 2^n for n in [-126, 127].
[[gnu::always_inline]] inline float exp2_int(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

/// Range reduction by ln 2 in two parts (Cody and Waite), polynomial of Cephes' expf.
[[gnu::always_inline]] inline float exp(float x) {
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float shifted = x * 1.44269504f + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * r) * r + r + 1.0f;
  const std::int32_t n = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  // In two steps: 2^n itself may overflow or be subnormal where the product is not.
  return p * exp2_int(n >> 1) * exp2_int(n - (n >> 1));
}

/// Mantissa in [sqrt(1/2), sqrt(2)) and exponent, polynomial of Cephes' logf.
[[gnu::always_inline]] inline float log(float x) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const float scaled = subnormal ? x * 0x1p23f : x;
  const auto bits = std::bit_cast<std::uint32_t>(scaled);  // of any sign: must not overflow
  const std::int32_t n = static_cast<std::int32_t>(bits - 0x3f3504f3u) >> 23;
  const float e = static_cast<float>(n) - (subnormal ? 23.0f : 0.0f);
  const float m = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(n) << 23)) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z - e * 2.12194440e-4f - 0.5f * z;
  y = m + y + e * 0.693359375f;
  y = x > std::numeric_limits<float>::max() ? x : y;  // infinity
  y = x == 0.0f ? -std::numeric_limits<float>::infinity() : y;
  return x >= 0.0f ? y : std::numeric_limits<float>::quiet_NaN();
}

/// log(1 + x) for x in [0, 1]: the rounding of 1 + x is divided out (Kahan).
[[gnu::always_inline]] inline float log1p(float x) {
  const float w = 1.0f + x;
  const float exact = w - 1.0f;
  return exact == 0.0f ? x : log(w) * (x / (exact == 0.0f ? 1.0f : exact));
}

/// Cephes' polynomial near 0, 1 - 2 / (exp(2 |x|) + 1) elsewhere.
[[gnu::always_inline]] inline float tanh(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float large = std::copysign(1.0f - 2.0f / (exp(2.0f * a) + 1.0f), x);
  return a < 0.625f ? small : large;
}

[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

/// Normal distribution function, (1 + erf(x / sqrt 2)) / 2, with erf as in N. Juffa's erff: a
/// polynomial near 0, 1 - exp(polynomial) elsewhere.
[[gnu::always_inline]] inline float normal_cdf(float x) {
  const float z = x * 0.70710678f;
  const float t = std::fabs(z);
  const float s = z * z;
  float small = -5.96761703e-4f;
  small = small * s + 4.99119423e-3f;
  small = small * s - 2.67681349e-2f;
  small = small * s + 1.12819925e-1f;
  small = small * s - 3.76125336e-1f;
  small = small * s + 1.28379166e-1f;
  small = small * z + z;
  float tail = -1.72853470e-5f * t + 3.83197126e-4f;
  tail = tail * s + (-3.88396438e-3f * t + 2.42546219e-2f);
  tail = tail * t - 1.06777877e-1f;
  tail = tail * t - 6.34846687e-1f;
  tail = tail * t - 1.28717512e-1f;
  tail = tail * t - t;
  const float upper = 0.5f * exp(tail);
  const float far = x < 0.0f ? upper : 1.0f - upper;
  return t > 0.927734375f ? far : 0.5f + 0.5f * small;
}

}  // namespace moiety::kernels::cpu::math

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/simt.cuh"
#include "kernels/portable_math.h"

// Sine and cosine of any number: those of CUDA keep an array in local memory for large arguments.
// Errors in f64
// are below 2 ulp, and below 3 for |x| > 2^30. For .cu files alone.
namespace moiety::kernels::cuda {

/// The binary digits of 2 / pi: 64 zeros, then those after the point.
__device__ const std::uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

/// x less the nearest multiple of pi / 2, and that multiple modulo 4.
struct Reduced {
  double rest;
  unsigned quarters;
};

/// For |x| <= 2^30: pi / 2 is subtracted in three parts (Cody and Waite).
__device__ inline Reduced reduce_moderate(double x) {
  const double k = std::rint(x * 0x1.45f306dc9c883p-1);
  double rest = std::fma(-k, 0x1.921fb54442d18p+0, x);
  rest = std::fma(-k, 0x1.1a62633145c07p-54, rest);
  rest = std::fma(-k, -0x1.f1976b7ed8fbcp-110, rest);
  return {rest, static_cast<unsigned>(static_cast<int>(k)) & 3u};
}

__device__ inline std::uint64_t digits_from(int place) {
  const std::uint64_t high = kTwoOverPi[place / 64];
  const int shift = place % 64;
  return shift == 0 ? high : high << shift | kTwoOverPi[place / 64 + 1] >> (64 - shift);
}

/// For finite |x| >= 2^30 (Payne and Hanek): x = m 2^e with a whole m of 53 bits, so digit k of
/// 2 / pi after the point adds a multiple of 4 quarters if k <= e - 2. The 192 digits from number
/// e - 1 leave 128 after the point; no f64 is nearer to a multiple than 2^-62 quarters.
__device__ inline Reduced reduce_large(double x) {
  using Wide = unsigned __int128;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int e = static_cast<int>(bits >> 52 & 0x7ffu) - 1075;
  const int place = 64 + e - 2;
  const Wide low = Wide{m} * digits_from(place + 128);
  const Wide middle = Wide{m} * digits_from(place + 64) + (low >> 64);
  const std::uint64_t high = m * digits_from(place) + static_cast<std::uint64_t>(middle >> 64);
  // Two digits of whole quarters, then the fraction; one of a half or more rounds up.
  Wide fraction = (Wide{high} << 64 | static_cast<std::uint64_t>(middle)) << 2;
  const bool up = (fraction >> 127) != 0;
  if (up) fraction = -fraction;
  const unsigned quarters = static_cast<unsigned>(high >> 62) + (up ? 1u : 0u);
  const double size =
      std::fma(static_cast<double>(static_cast<std::uint64_t>(fraction >> 64)), 0x1p-64,
               static_cast<double>(static_cast<std::uint64_t>(fraction)) * 0x1p-128) *
      0x1.921fb54442d18p+0;
  const bool negative = (bits >> 63) != 0;
  return {negative != up ? -size : size, (negative ? 0u - quarters : quarters) & 3u};
}

__device__ inline Reduced reduce(double x) {
  constexpr double kQuarterPi = 0.78539816339744831;
  if (std::fabs(x) <= kQuarterPi) return {x, 0};
  if (std::fabs(x) <= 0x1p30) return reduce_moderate(x);
  if (std::fabs(x) <= 0x1.fffffffffffffp1023) return reduce_large(x);
  return {x - x, 0};  // infinity and NaN give NaN
}

/// The sine, for `ahead` = 1 that of x + pi / 2: the cosine.
__device__ inline double shifted_sine(double x, unsigned ahead) {
  const Reduced r = reduce(x);
  const unsigned quarters = r.quarters + ahead;
  const double value = quarters % 2 == 0 ? portable::sine(r.rest) : portable::cosine(r.rest);
  return quarters & 2u ? -value : value;
}

__device__ inline double sin_of(double x) { return x == 0 ? x : shifted_sine(x, 0); }
__device__ inline double cos_of(double x) { return shifted_sine(x, 1); }
__device__ inline float sin_of(float x) { return static_cast<float>(sin_of(double{x})); }
__device__ inline float cos_of(float x) { return static_cast<float>(cos_of(double{x})); }

}  // namespace moiety::kernels::cuda

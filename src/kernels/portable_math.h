// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// Functions of f64 that give the same bits on every device: made of operations that IEEE 754 rounds
// exactly, with each fused multiplication and addition written out, so that no compiler has a
// choice to make. Errors are below 1 ulp. Kernels call them as constexpr functions.
namespace moiety::kernels::portable {

/// sin(x) for |x| <= pi / 4: the Taylor series, whose next term is below 2^-63 of the sum.
constexpr double sine(double x) {
  const double z = x * x;
  double p = 1.0 / 355687428096000;
  p = std::fma(p, z, -1.0 / 1307674368000);
  p = std::fma(p, z, 1.0 / 6227020800);
  p = std::fma(p, z, -1.0 / 39916800);
  p = std::fma(p, z, 1.0 / 362880);
  p = std::fma(p, z, -1.0 / 5040);
  p = std::fma(p, z, 1.0 / 120);
  p = std::fma(p, z, -1.0 / 6);
  return std::fma(x * z, p, x);
}

/// cos(x) for |x| <= pi / 4: 1 - z / 2 is rounded, and what that loses is added to the rest.
constexpr double cosine(double x) {
  const double z = x * x;
  double p = 1.0 / 20922789888000;
  p = std::fma(p, z, -1.0 / 87178291200);
  p = std::fma(p, z, 1.0 / 479001600);
  p = std::fma(p, z, -1.0 / 3628800);
  p = std::fma(p, z, 1.0 / 40320);
  p = std::fma(p, z, -1.0 / 720);
  p = std::fma(p, z, 1.0 / 24);
  const double head = std::fma(-0.5, z, 1.0);
  const double lost = std::fma(-0.5, z, 1.0 - head);
  return head + std::fma(z * z, p, lost);
}

/// log(n 2^-32) for 1 <= n <= 2^32. With n = 2^k (1 + f) and s = f / (2 + f), the logarithm of 1 +
/// f is 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + r), where r is the series without its first term.
constexpr double log_fraction(std::uint64_t n) {
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // k times this is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(n));  // exact
  int k = static_cast<int>(bits >> 52) - 1023 - 32;
  auto m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {  // sqrt(2)
    m *= 0.5;
    ++k;
  }
  const double f = m - 1.0;
  const double s = f / (m + 1.0);
  const double z = s * s;
  double p = 2.0 / 25;
  p = std::fma(p, z, 2.0 / 23);
  p = std::fma(p, z, 2.0 / 21);
  p = std::fma(p, z, 2.0 / 19);
  p = std::fma(p, z, 2.0 / 17);
  p = std::fma(p, z, 2.0 / 15);
  p = std::fma(p, z, 2.0 / 13);
  p = std::fma(p, z, 2.0 / 11);
  p = std::fma(p, z, 2.0 / 9);
  p = std::fma(p, z, 2.0 / 7);
  p = std::fma(p, z, 2.0 / 5);
  p = std::fma(p, z, 2.0 / 3);
  const double half = 0.5 * f;
  const double power = static_cast<double>(k);
  const double tail = std::fma(s, std::fma(p, z, half * f), power * kLn2Low);
  return std::fma(power, kLn2High, f - std::fma(half, f, -tail));
}

struct NormalPair {
  double first;
  double second;
};

/// Two normal numbers from two random words (Box and Muller 1958): the radius from the first, the
/// angle in 2^-32 turns from the second.
constexpr NormalPair normal_pair(std::uint32_t radius_word, std::uint32_t angle_word, double mean,
                                 double sd) {
  constexpr double kUnit = 0x1.921fb54442d18p-30;  // a quarter turn, pi / 2, is 2^30 of them
  const double radius = sd * std::sqrt(-2.0 * log_fraction(std::uint64_t{radius_word} + 1));
  const std::uint32_t quarter = (angle_word + (1u << 29)) >> 30;
  const auto rest = static_cast<std::int32_t>(angle_word - (quarter << 30));
  const double angle = static_cast<double>(rest) * kUnit;
  const double s = sine(angle);
  const double c = cosine(angle);
  const double x = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  const double y = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
  return {std::fma(radius, x, mean), std::fma(radius, y, mean)};
}

}  // namespace moiety::kernels::portable

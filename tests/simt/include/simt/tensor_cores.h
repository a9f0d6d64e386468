// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "simt/device.h"

// The warp's matrix instructions, with the fragment layouts of the PTX ISA. A lane is in group
// g = lane / 4 at position t = lane % 4.

namespace simt {

inline float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline float f16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 1023);
  float size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0f, exponent - 25);
  if (exponent == 31) size = fraction == 0.0f ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

/// The 19 bits that a tensor core reads of a float.
inline float tf32_value(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

/// PTX cvt.rna.tf32.f32: to the nearest, ties away from zero.
inline std::uint32_t to_tf32(float value) {
  return (std::bit_cast<std::uint32_t>(value) + 0x1000u) & 0xffffe000u;
}

/// PTX ex2.approx.ftz.f32.
inline float exp2_approx(float x) {
  const float power = exp2f(x);
  return std::isnormal(power) || std::isinf(power) || std::isnan(power) ? power : 0.0f;
}

/// d += a b for a product of shape 16 x 8 x kDepth, each lane with its fragments of the three.
template <int kDepth, int kRegistersA, int kRegistersB, class ReadA, class ReadB>
void multiply_accumulate(float (&d)[4], const std::uint32_t (&a)[kRegistersA],
                         const std::uint32_t (&b)[kRegistersB], const char* operation, ReadA, ReadB,
                         Place place) {
  struct Lane {
    float* d;
    const std::uint32_t* a;
    const std::uint32_t* b;
  };
  Lane lane{d, a, b};
  const Combine combine = [](void* const* lanes, unsigned arrived, Place where) {
    if (arrived != 0xffffffffu) fail("mma in a warp of fewer than 32 threads", where);
    double left[16][kDepth];
    double right[kDepth][8];
    for (int i = 0; i < 32; ++i) {
      const Lane& from = *static_cast<const Lane*>(lanes[i]);
      ReadA{}(from.a, i / 4, i % 4, left);
      ReadB{}(from.b, i / 4, i % 4, right);
    }
    for (int i = 0; i < 32; ++i) {
      for (int r = 0; r < 4; ++r) {
        const int row = i / 4 + r / 2 * 8;
        const int column = i % 4 * 2 + r % 2;
        float& total = static_cast<const Lane*>(lanes[i])->d[r];
        double sum = total;
        for (int k = 0; k < kDepth; ++k) sum += left[row][k] * right[k][column];
        total = static_cast<float>(sum);
      }
    }
  };
  warp_collective(0xffffffffu, operation, &lane, combine, place);
}

template <float (*kValue)(std::uint16_t)>
float half_value(std::uint32_t reg, int half) {
  return kValue(static_cast<std::uint16_t>(reg >> (16 * half)));
}

/// m16n8k16: registers of two halves, low half first.
template <float (*kValue)(std::uint16_t)>
void multiply_accumulate_k16(float (&d)[4], const std::uint32_t (&a)[4],
                             const std::uint32_t (&b)[2], const char* operation, Place place) {
  const auto read_a = [](const std::uint32_t* from, int g, int t, double(&left)[16][16]) {
    for (int r = 0; r < 4; ++r) {
      for (int half = 0; half < 2; ++half) {
        left[g + r % 2 * 8][t * 2 + half + r / 2 * 8] = half_value<kValue>(from[r], half);
      }
    }
  };
  const auto read_b = [](const std::uint32_t* from, int g, int t, double(&right)[16][8]) {
    for (int r = 0; r < 2; ++r) {
      for (int half = 0; half < 2; ++half)
        right[t * 2 + half + r * 8][g] = half_value<kValue>(from[r], half);
    }
  };
  multiply_accumulate<16>(d, a, b, operation, read_a, read_b, place);
}

/// PTX mma.sync.m16n8k16 of bf16 with f32 accumulators.
inline void mma_bf16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                     Place place = Place::current()) {
  multiply_accumulate_k16<bf16_value>(d, a, b, "mma_bf16", place);
}

/// PTX mma.sync.m16n8k16 of f16 with f32 accumulators.
inline void mma_f16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                    Place place = Place::current()) {
  multiply_accumulate_k16<f16_value>(d, a, b, "mma_f16", place);
}

/// PTX mma.sync.m16n8k8 of tf32 with f32 accumulators.
inline void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                     Place place = Place::current()) {
  const auto read_a = [](const std::uint32_t* from, int g, int t, double(&left)[16][8]) {
    for (int r = 0; r < 4; ++r) left[g + r % 2 * 8][t + r / 2 * 4] = tf32_value(from[r]);
  };
  const auto read_b = [](const std::uint32_t* from, int g, int t, double(&right)[8][8]) {
    for (int r = 0; r < 2; ++r) right[t + r * 4][g] = tf32_value(from[r]);
  };
  multiply_accumulate<8>(d, a, b, "mma_tf32", read_a, read_b, place);
}

/// PTX ldmatrix of kMatrices (1, 2 or 4) matrices of 8 x 8 halves. Lane 8 m + i gives the address
/// of row i of matrix m; `rows` of lanes beyond are ignored. Lane 4 g + t receives the two elements
/// from column 2 t of row g, with kTransposed from row 2 t of column g.
template <int kMatrices, bool kTransposed = false>
void ldmatrix(std::uint32_t (&registers)[kMatrices], const void* row,
              Place place = Place::current()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  struct Lane {
    const void* row;
    std::uint32_t* registers;
  };
  Lane lane{row, registers};
  if (current_lane < 8 * kMatrices) {
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
      fail("ldmatrix: the row is not aligned to 16 bytes", place);
    }
    if (!is_shared(row)) fail("ldmatrix: the row is not in shared memory", place);
    check_access(row, 16, Access::read, place);
  }
  const Combine combine = [](void* const* lanes, unsigned arrived, Place where) {
    if (arrived != 0xffffffffu) fail("ldmatrix in a warp of fewer than 32 threads", where);
    for (int m = 0; m < kMatrices; ++m) {
      std::uint16_t matrix[8][8];
      for (int i = 0; i < 8; ++i) {
        std::memcpy(matrix[i], static_cast<const Lane*>(lanes[8 * m + i])->row, 16);
      }
      for (int i = 0; i < 32; ++i) {
        const int g = i / 4;
        const int t = i % 4 * 2;
        const std::uint32_t low = kTransposed ? matrix[t][g] : matrix[g][t];
        const std::uint32_t high = kTransposed ? matrix[t + 1][g] : matrix[g][t + 1];
        static_cast<const Lane*>(lanes[i])->registers[m] = low | high << 16;
      }
    }
  };
  warp_collective(0xffffffffu, kTransposed ? "ldmatrix.trans" : "ldmatrix", &lane, combine, place);
}

}  // namespace simt

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/ptx.cuh"

#if !defined(MOIETY_SIMT_EMULATED)
#include <cuda_bf16.h>
#endif

// Products of a warp on tensor cores, from tiles in shared memory: of halves, or of f32 whose
// factors are rounded to tf32. Accumulators are float [tiles][4], 16 rows of 8 columns a tile, as
// ptx.cuh spreads them over the lanes: lane l holds rows l / 4 and l / 4 + 8, columns 2 (l % 4) and
// the next. For .cu files alone.
namespace moiety::kernels::cuda {

/// Columns of the left factor, rows of the right one, that an instruction takes: 32 bytes.
template <class T>
inline constexpr int kMmaDepth = 32 / static_cast<int>(sizeof(T));

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x) / kWarp; }

/// d += a b.
template <class T>
__device__ void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    mma_bf16(d, a, b);
  } else if constexpr (std::is_same_v<T, Float16>) {
    mma_f16(d, a, b);
  } else {
    mma_tf32(d, a, b);
  }
}

/// Two halves in a register, the first one low.
template <class T>
__device__ std::uint32_t pack_halves(float low, float high) {
#if defined(MOIETY_SIMT_EMULATED)
  return std::uint32_t{narrow<T>(low).bits} | std::uint32_t{narrow<T>(high).bits} << 16;
#else
  std::uint32_t bits;
  if constexpr (std::is_same_v<T, BFloat16>) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  }
  return bits;
#endif
}

/// What a product reads of f32 bits: the nearest tf32, where the instruction would cut them off.
template <class T, int kCount>
__device__ void round_factors(std::uint32_t (&registers)[kCount]) {
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) registers[i] = to_tf32(__uint_as_float(registers[i]));
  }
}

/// The left factor of step k of the depth: accumulators, 16 rows of as many columns as the depth
/// has. Of f32, the depth is taken in another order, which MmaTile::rows_as_right takes as well.
template <class T, int kTiles>
__device__ void left_of(const float (&acc)[kTiles][4], int k, std::uint32_t (&a)[4]) {
  if constexpr (std::is_same_v<T, float>) {
    a[0] = to_tf32(acc[k][0]);
    a[1] = to_tf32(acc[k][2]);
    a[2] = to_tf32(acc[k][1]);
    a[3] = to_tf32(acc[k][3]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float(&tile)[4] = acc[2 * k + i / 2];
      a[i] = pack_halves<T>(tile[i % 2 * 2], tile[i % 2 * 2 + 1]);
    }
  }
}

/// Rows of kColumns elements in shared memory, in chunks of 16 bytes. A chunk's place in its row
/// depends on the row: chunks of one number in eight rows, which an instruction loads together,
/// lie in different banks.
template <class T, int kColumns>
struct MmaTile {
  static constexpr int kChunks = kColumns / kWide<T>;

  T* data;

  /// Chunk number ^ of_lane of a row: what depends on the lane stands apart, so that the rest of
  /// the address is known when the kernel is compiled.
  __device__ T* chunk(int row, int number, int of_lane = 0) const {
    constexpr unsigned kRowsOfLine = kChunks < 8 ? 8 / kChunks : 1;  // a line holds all banks once
    constexpr unsigned kMask = (kChunks < 8 ? kChunks : 8) - 1;
    const unsigned turn = static_cast<unsigned>(row) / kRowsOfLine & kMask;
    const unsigned known = static_cast<unsigned>(number);
    const unsigned place =
        (known & ~kMask) + ((known & kMask) ^ (static_cast<unsigned>(of_lane) ^ turn));
    return data + row * kColumns + place * kWide<T>;
  }

  /// Queues copies of `width` elements of each of `count` rows, which from(row) points to; up to
  /// row `rows`, all that is beside them becomes 0. By all threads of the block.
  template <class From>
  __device__ void queue(int rows, int count, int width, const From& from) const {
    for (int at = static_cast<int>(threadIdx.x); at < rows * kChunks;
         at += static_cast<int>(blockDim.x)) {
      const int row = at / kChunks;
      const int number = at % kChunks;
      const bool inside = row < count && number * kWide<T> < width;
      const T* source = from(inside ? row : 0) + (inside ? number * kWide<T> : 0);
      cp_async<16>(chunk(row, number), source, inside ? 16 : 0);
    }
  }

  /// The left factor of step k of the depth: rows row .. row + 16.
  __device__ void rows_as_left(int row, int k, std::uint32_t (&a)[4]) const {
    const int lane = lane_of_thread();
    ldmatrix(a, chunk(row + lane % 16, 2 * k, lane / 16));
    round_factors<T>(a);
  }

  /// Two right factors of step k, whose columns are rows row .. row + 8 and row + 8 .. row + 16.
  __device__ void rows_as_columns(int row, int k, std::uint32_t (&b)[4]) const {
    const int lane = lane_of_thread();
    ldmatrix(b, chunk(row + lane / 16 * 8 + lane % 8, 2 * k, lane / 8 % 2));
    round_factors<T>(b);
  }

  /// Two right factors whose depth is rows row .. row + kMmaDepth, and whose columns are 16 from
  /// `column` on.
  __device__ void rows_as_right(int row, int column, std::uint32_t (&b)[4]) const {
    const int lane = lane_of_thread();
    if constexpr (std::is_same_v<T, float>) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* from =
            chunk(row + lane % 4 * 2 + i % 2, (column + i / 2 * 8) / kWide<T>, lane / 16);
        b[i] = __float_as_uint(from[lane / 4 % 4]);
      }
      round_factors<T>(b);
    } else {
      ldmatrix<4, true>(b, chunk(row + lane % 16, column / kWide<T>, lane / 16));
    }
  }
};

/// acc += a b^T: the warp's 16 rows of a, from `row` on, times 8 rows of b for each tile.
template <class T, int kColumns, int kTiles>
__device__ void add_row_products(const MmaTile<T, kColumns>& a, int row,
                                 const MmaTile<T, kColumns>& b, float (&acc)[kTiles][4]) {
#pragma unroll 8  // further, loads ahead of their use take all registers
  for (int k = 0; k < kColumns / kMmaDepth<T>; ++k) {
    std::uint32_t left[4];
    a.rows_as_left(row, k, left);
#pragma unroll
    for (int n = 0; n < kTiles / 2; ++n) {
      std::uint32_t right[4];
      b.rows_as_columns(16 * n, k, right);
      mma<T>(acc[2 * n], left, {right[0], right[1]});
      mma<T>(acc[2 * n + 1], left, {right[2], right[3]});
    }
  }
}

/// acc += factors b: 16 rows of 8 kTiles columns, in registers, times as many rows of b.
template <class T, int kColumns, int kTiles>
__device__ void add_weighted_rows(const float (&factors)[kTiles][4], const MmaTile<T, kColumns>& b,
                                  float (&acc)[kColumns / 8][4]) {
#pragma unroll
  for (int k = 0; k < kTiles * 8 / kMmaDepth<T>; ++k) {
    std::uint32_t left[4];
    left_of<T>(factors, k, left);
#pragma unroll
    for (int n = 0; n < kColumns / 16; ++n) {
      std::uint32_t right[4];
      b.rows_as_right(k * kMmaDepth<T>, 16 * n, right);
      mma<T>(acc[2 * n], left, {right[0], right[1]});
      mma<T>(acc[2 * n + 1], left, {right[2], right[3]});
    }
  }
}

template <int kTiles>
__device__ void clear(float (&acc)[kTiles][4]) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[n][i] = 0;
  }
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/simt.cuh"

// Kernels over [A, N, B] that walk along N. For .cu files alone.
namespace moiety::kernels::cuda {

/// Threads of a block, in one dimension. Kernels with many registers are bounded to
/// (kTileThreads, 1): the 1 keeps ptxas from spilling a few of them so that one block more fits.
inline constexpr int kTileThreads = 256;

/// How the threads of a block share out [A, N, B]: columns (B) side by side, then rows (N), then
/// several a, a power of two of each. So few columns still read memory in lines, and few rows still
/// fill a block.
struct Tiles {
  std::int64_t outer;    ///< A
  std::int64_t rows;     ///< N; where it differs between the a, the average
  std::int64_t columns;  ///< B
  std::int64_t chunk;    ///< rows that a block walks at a time
  std::int64_t chunks;   ///< blocks of a column, in the grid's y
  std::int64_t column_tiles;
  int column_bits;
  int row_bits;

  std::int64_t outer_tiles() const {
    const int each = kTileThreads >> (column_bits + row_bits);
    return (outer + each - 1) / each;
  }
  Threads threads(const std::source_location& where = std::source_location::current()) const {
    return {
        dim3(static_cast<unsigned>(outer_tiles() * column_tiles), static_cast<unsigned>(chunks)),
        dim3(kTileThreads), 0, where};
  }

  __device__ std::int64_t a() const {
    const int bits = column_bits + row_bits;
    const unsigned tile = blockIdx.x / static_cast<unsigned>(column_tiles);
    return static_cast<std::int64_t>(tile) * (kTileThreads >> bits) + (threadIdx.x >> bits);
  }
  __device__ std::int64_t b() const {
    const unsigned tile = blockIdx.x % static_cast<unsigned>(column_tiles);
    return (static_cast<std::int64_t>(tile) << column_bits) +
           (threadIdx.x & ((1u << column_bits) - 1));
  }
  __device__ bool inside() const { return a() < outer && b() < columns; }

  /// The thread's place among those that share a column, how many these are, and the rows of the
  /// chunk: first_row(), first_row() + row_step(), ... below end_row().
  __device__ int row_place() const {
    return static_cast<int>(threadIdx.x >> column_bits) & (row_step() - 1);
  }
  __device__ int row_step() const { return 1 << row_bits; }
  __device__ std::int64_t first_row() const { return blockIdx.y * chunk + row_place(); }
  __device__ std::int64_t end_row() const {
    const std::int64_t end = (blockIdx.y + std::int64_t{1}) * chunk;
    return end < rows ? end : rows;
  }
};

inline constexpr std::int64_t kRowsOfThread = 8;
inline constexpr std::int64_t kEnoughBlocks = 512;
inline constexpr std::int64_t kManyRows = std::int64_t{1} << 40;

/// Tiles for elements of `bytes` each, at most `widest` columns side by side, whose columns are
/// walked by one block each.
inline Tiles whole_tiles(std::int64_t outer, std::int64_t rows, std::int64_t columns,
                         std::int64_t bytes, int widest = kWarp) {
  constexpr std::int64_t kLine = 128;  // bytes that are read together
  const auto power = [](std::int64_t n) {
    return static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
  };
  const std::int64_t x = std::min<std::int64_t>(widest, power(columns));
  const auto line_rows = static_cast<std::int64_t>(std::bit_floor(
      static_cast<std::uint64_t>(std::min(kLine / std::min(kLine, bytes * x), power(rows)))));
  const std::int64_t y =
      std::min(kTileThreads / x, std::max(power(rows / kRowsOfThread), line_rows));
  Tiles tiles{outer, rows, columns, rows, 1, (columns + x - 1) / x, 0, 0};
  tiles.column_bits = std::countr_zero(static_cast<std::uint64_t>(x));
  tiles.row_bits = std::countr_zero(static_cast<std::uint64_t>(y));
  return tiles;
}

/// The same with columns cut into chunks of rows where there would be too few blocks. The number of
/// chunks depends on the shape alone, not on the GPU.
inline Tiles chunked_tiles(std::int64_t outer, std::int64_t rows, std::int64_t columns,
                           std::int64_t bytes) {
  Tiles tiles = whole_tiles(outer, rows, columns, bytes);
  const std::int64_t blocks = std::max<std::int64_t>(tiles.outer_tiles() * tiles.column_tiles, 1);
  const std::int64_t shortest = kRowsOfThread << tiles.row_bits;
  const std::int64_t most = std::max<std::int64_t>(kEnoughBlocks / blocks, 1);
  tiles.chunk = std::max(shortest, (rows + most - 1) / most);
  tiles.chunks = std::max<std::int64_t>((rows + tiles.chunk - 1) / tiles.chunk, 1);
  return tiles;
}

/// Tiles for [rows, columns] whose shape, and so which block and thread takes which row, depends on
/// the columns alone: rows that are added behind change nothing for those before them. A block
/// takes every chunks-th chunk.
inline Tiles steady_tiles(std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  Tiles tiles = whole_tiles(1, kManyRows, columns, bytes);
  const std::int64_t most =
      std::max<std::int64_t>(kEnoughBlocks / std::max<std::int64_t>(tiles.column_tiles, 1), 1);
  tiles.rows = rows;
  tiles.chunk = kRowsOfThread << tiles.row_bits;
  tiles.chunks = std::clamp<std::int64_t>((rows + tiles.chunk - 1) / tiles.chunk, 1, most);
  return tiles;
}

/// Merges the values of the threads that share a column, in a fixed order; the thread whose
/// row_place() is 0 gets the result. `values` [kTileThreads] is shared memory; all threads of the
/// block take part.
template <class Value, class Op>
__device__ Value merge_rows(const Tiles& tiles, Value value, Op op, Value* values) {
  const int place = tiles.row_place();
  values[threadIdx.x] = value;
  for (int half = tiles.row_step() / 2; half > 0; half /= 2) {
    __syncthreads();
    if (place < half) {
      value = op(value, values[threadIdx.x + (half << tiles.column_bits)]);
      values[threadIdx.x] = value;
    }
  }
  return value;
}

/// The same, and all of them get it.
template <class Value, class Op>
__device__ Value share_rows(const Tiles& tiles, Value value, Op op, Value* values) {
  merge_rows(tiles, value, op, values);
  __syncthreads();
  return values[threadIdx.x - (tiles.row_place() << tiles.column_bits)];
}

}  // namespace moiety::kernels::cuda

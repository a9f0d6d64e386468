// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/simt.cuh"

// Kernels that own a row of the output each: a team of threads side by side takes one row, every
// thread kCount of its columns, and walks what the row is made of in a fixed order. No atomics, no
// shared memory, the same bits every run. For .cu files alone.
namespace moiety::kernels::cuda {

inline constexpr int kRowBlock = 256;  ///< threads of a block

/// The threads for `rows` rows of `columns` columns, `count` columns a thread: teams of a power of
/// two of at most 32 threads, as many as fit the block; further columns in the grid's y, and in its
/// z where there are more than y takes.
inline Threads row_threads(std::int64_t rows, std::int64_t columns, int count,
                           const std::source_location& where = std::source_location::current()) {
  const auto wanted = static_cast<std::uint64_t>((columns + count - 1) / count);
  const auto team = static_cast<unsigned>(
      std::min<std::uint64_t>(kWarp, std::bit_ceil(std::max<std::uint64_t>(wanted, 1))));
  const unsigned teams = kRowBlock / team;
  constexpr std::uint64_t kMostBlocks = 65535;  // in y
  const std::uint64_t tiles = (wanted + team - 1) / team;
  return {dim3(static_cast<unsigned>((rows + teams - 1) / teams),
               static_cast<unsigned>(std::min(tiles, kMostBlocks)),
               static_cast<unsigned>((tiles + kMostBlocks - 1) / kMostBlocks)),
          dim3(team, teams), 0, where};
}

/// The row of this thread's team, and the first of this thread's columns.
__device__ inline std::int64_t team_row() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
}
__device__ inline std::int64_t team_column(int count) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  return (tile * blockDim.x + threadIdx.x) * count;
}

}  // namespace moiety::kernels::cuda

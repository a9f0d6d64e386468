// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/features.cuh"
#include "kernels/cuda/partials.cuh"

// Sums of many rows into the few of a table, each into those that its categories select. A block of
// one warp owns 32 columns of some rows of the table, in shared memory, and adds a range of the
// input's rows in order; the tables of the ranges are added in order as well. Nothing is sorted,
// and no two threads touch the same element. For .cu files alone.
namespace moiety::kernels::cuda {

/// Features whose table rows a thread reads and writes together; each owns rows of its own.
inline constexpr int kTableStep = 4;  // an int4 of offsets

/// How a table sum is cut: blocks of (32 columns, range of entries, rows of the table).
struct TableCut {
  std::int64_t entries;  ///< rows of the input
  std::int64_t columns;
  std::int64_t tile_rows;  ///< rows of the table in one block
  std::int64_t tiles;
  std::int64_t column_tiles;
  std::int64_t range;  ///< entries of one block
  std::int64_t ranges;
  int padded;  ///< features, rounded up to kTableStep
  std::size_t shared_bytes;

  TableCut(const FeatureGroup& group, std::int64_t entry_count, std::int64_t column_count,
           std::size_t element)
      : entries(entry_count), columns(column_count) {
    constexpr std::int64_t kSharedBytes = 48 * 1024;  // several blocks a multiprocessor
    constexpr std::int64_t kBlocks = 1024;            // that keep a GPU busy
    constexpr std::int64_t kFewestEntries = 64;       // of a block
    padded = (group.count + kTableStep - 1) / kTableStep * kTableStep;
    const auto offset_bytes = static_cast<std::int64_t>(kWarp * sizeof(std::int32_t)) * padded;
    const auto row_bytes = static_cast<std::int64_t>(kWarp * element);
    tile_rows =
        std::clamp<std::int64_t>(group.table_rows, 1, (kSharedBytes - offset_bytes) / row_bytes);
    shared_bytes = static_cast<std::size_t>(tile_rows * row_bytes + offset_bytes);
    tiles = (group.table_rows + tile_rows - 1) / tile_rows;
    column_tiles = (columns + kWarp - 1) / kWarp;
    // The tables of the ranges, which are written and read again, stay small beside the input.
    const std::int64_t fewest = std::max(kFewestEntries, group.table_rows / 4);
    const std::int64_t wanted =
        std::clamp<std::int64_t>(kBlocks / std::max<std::int64_t>(tiles * column_tiles, 1), 1,
                                 std::max<std::int64_t>(entries / fewest, 1));
    range = (std::max<std::int64_t>(entries, 1) + wanted - 1) / wanted;
    range = (range + kWarp - 1) / kWarp * kWarp;
    ranges = std::max<std::int64_t>((entries + range - 1) / range, 1);
  }
};

/// partial[p, r, c] = sum of rows(n, c) over the entries n of range p that select row r of the
/// group's table, n ascending; entries of which rows.usable(n) is false are left out.
template <class F, class Rows>
__global__ void table_sum_kernel(const std::int32_t* __restrict__ index, FeatureGroup group,
                                 FaultReport bad_index, Rows rows, TableCut cut,
                                 F* __restrict__ partial) {
  MOIETY_DYNAMIC_SHARED(memory);
  const int lane = static_cast<int>(threadIdx.x);
  // [tile_rows][32], of which this thread uses column `lane`; [32][padded] offsets into it.
  F* table = reinterpret_cast<F*>(memory) + lane;
  auto* offsets =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<F*>(memory) + cut.tile_rows * kWarp);
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kWarp + lane;
  const std::int64_t column = c < cut.columns ? c : 0;  // one that exists
  const std::int64_t first_row = blockIdx.z * cut.tile_rows;
  const std::int64_t rows_here = std::min(cut.tile_rows, group.table_rows - first_row);
  for (std::int64_t r = 0; r < rows_here; ++r) table[r * kWarp] = 0;

  const std::int64_t begin = blockIdx.y * cut.range;
  const std::int64_t end = std::min(begin + cut.range, cut.entries);
  for (std::int64_t base = begin; base < end; base += kWarp) {
    // Each lane looks up one entry for all.
    const std::int64_t n = base + lane;
    const bool usable = n < end && rows.usable(n);
    bool selects = false;
    bool valid = true;
    for (int f = 0; f < cut.padded; f += kTableStep) {
      std::int32_t value[kTableStep];
      std::int32_t offset[kTableStep];
#pragma unroll
      for (int k = 0; k < kTableStep; ++k) {
        value[k] = usable && f + k < group.count ? group.value(index, n, f + k) : 0;
      }
#pragma unroll
      for (int k = 0; k < kTableStep; ++k) {
        offset[k] = -1;
        if (!usable || f + k >= group.count) continue;
        valid &= group.contains(value[k], f + k);
        const std::int64_t row = group.first[f + k] + value[k] - first_row;
        if (group.contains(value[k], f + k) && row >= 0 && row < rows_here) {
          offset[k] = static_cast<std::int32_t>(row) * kWarp;
        }
        selects |= offset[k] >= 0;
      }
      *reinterpret_cast<int4*>(offsets + lane * cut.padded + f) =
          make_int4(offset[0], offset[1], offset[2], offset[3]);
    }
    if (!valid) group.report(index, n, bad_index);
    unsigned left = __ballot_sync(kAllLanes, selects);
    __syncwarp();
    while (left != 0) {
      // Several values are on their way at once: unconditional loads, of one more often at the end.
      constexpr int kAhead = 4;
      const int count = __popc(left);
      int entry[kAhead]{};
      F value[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        entry[a] = left != 0 ? __ffs(static_cast<int>(left)) - 1 : entry[0];
        left &= left - 1;
        value[a] = rows(base + entry[a], column);
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (a >= count) break;
        for (int f = 0; f < cut.padded; f += kTableStep) {
          const int4 at = *reinterpret_cast<const int4*>(offsets + entry[a] * cut.padded + f);
          const F x = at.x >= 0 ? table[at.x] : F{0};
          const F y = at.y >= 0 ? table[at.y] : F{0};
          const F z = at.z >= 0 ? table[at.z] : F{0};
          const F w = at.w >= 0 ? table[at.w] : F{0};
          if (at.x >= 0) table[at.x] = x + value[a];
          if (at.y >= 0) table[at.y] = y + value[a];
          if (at.z >= 0) table[at.z] = z + value[a];
          if (at.w >= 0) table[at.w] = w + value[a];
        }
      }
    }
    __syncwarp();  // the offsets are no longer read
  }
  if (c >= cut.columns) return;
  F* out = partial + (blockIdx.y * group.table_rows + first_row) * cut.columns + c;
  for (std::int64_t r = 0; r < rows_here; ++r) out[r * cut.columns] = table[r * kWarp];
}

/// out[r, c] = sum of rows(n, c) over the entries n of which a feature of the group selects row r;
/// rows(n, c) is a Compute<T>, asked for where rows.usable(n). index [entries, stride], out
/// [group.table_rows, columns].
template <class T, class Rows>
void sum_into_table(const Stream& stream, const std::int32_t* index, const FeatureGroup& group,
                    const FaultReport& bad_index, const Rows& rows, std::int64_t entries,
                    std::int64_t columns, T* out,
                    const std::source_location& where = std::source_location::current()) {
  if (group.table_rows == 0 || columns == 0) return;
  const TableCut cut(group, entries, columns, sizeof(Compute<T>));
  const Partials<T> partials(stream, cut.ranges, group.table_rows * columns, out);
  const dim3 grid(static_cast<unsigned>(cut.column_tiles), static_cast<unsigned>(cut.ranges),
                  static_cast<unsigned>(cut.tiles));
  launch(table_sum_kernel<Compute<T>, Rows>, Threads(grid, dim3(kWarp), cut.shared_bytes, where),
         stream, index, group, bad_index, rows, cut, partials.data());
  partials.add();
}

}  // namespace moiety::kernels::cuda

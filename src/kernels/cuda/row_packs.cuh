// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rows.cuh"

// Kernels that reduce each row of [N, C] and then write it. A thread has some packs of kCount
// columns of one row. Short rows are held in registers, kPacks packs a thread, by a team of at most
// a warp; with kPacks = 0 a block takes a row of any length and reads it again for each pass. For
// .cu files alone.
namespace moiety::kernels::cuda {

template <class T, int kCount, int kPacks>
class RowTeam {
 public:
  /// What a row's elements are added in: short rows in their own type, as a tree of short runs.
  using Sum = std::conditional_t<kPacks == 0, double, Compute<T>>;

  __device__ RowTeam(std::int64_t rows, std::int64_t columns)
      : row_(static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y),
        columns_(row_ < rows ? columns : 0) {}

  __device__ std::int64_t row() const { return row_; }
  /// 0 past the last row.
  __device__ std::int64_t columns() const { return columns_; }

  /// Packs of this thread: p = 0 .. packs() - 1, of which those that has() names exist.
  __device__ int packs() const {
    if constexpr (kPacks > 0) {
      return kPacks;
    } else {
      const std::int64_t whole = (columns_ + kCount - 1) / kCount;
      return static_cast<int>((whole + blockDim.x - 1 - threadIdx.x) / blockDim.x);
    }
  }
  __device__ bool has(int p) const { return column(p) < columns_; }
  __device__ std::int64_t column(int p) const {
    return (static_cast<std::int64_t>(p) * blockDim.x + threadIdx.x) * kCount;
  }
  /// Where pack p begins in a tensor like [N, C].
  __device__ std::int64_t place(int p) const { return row_ * columns_ + column(p); }

  /// Every thread of the row gets the result. All threads of the block take part.
  template <class V, class Op>
  __device__ V reduce(V value, Op op) const {
    if constexpr (kPacks > 0) {
      for (int distance = static_cast<int>(blockDim.x) / 2; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(kAllLanes, value, distance));
      }
      return value;
    } else {
      MOIETY_SHARED(V, scratch, [kWarp]);
      return block_reduce(value, op, scratch);
    }
  }

 private:
  std::int64_t row_;
  std::int64_t columns_;
};

/// This thread's packs of a row of one input, [N, C], or [1, C] for all rows.
template <class T, int kCount, int kPacks>
class RowPacks {
 public:
  using Team = RowTeam<T, kCount, kPacks>;

  /// Of row `row` of `from`. Packs that do not exist are filled with `missing`.
  __device__ RowPacks(const Team& team, const T* from, std::int64_t row, Compute<T> missing)
      : from_(from + row * team.columns()) {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        held_[p].fill(missing);
        if (team.has(p)) held_[p].load(from_ + team.column(p));
      }
    }
  }

  __device__ Pack<T, kCount> get(const Team& team, int p) const {
    if constexpr (kPacks > 0) {
      return held_[p];
    } else {
      Pack<T, kCount> pack;
      pack.load(from_ + team.column(p));
      return pack;
    }
  }

 private:
  const T* from_;
  Pack<T, kCount> held_[kPacks > 0 ? kPacks : 1];
};

/// The largest element of the row.
template <class T, int kCount, int kPacks>
__device__ Compute<T> row_top(const RowTeam<T, kCount, kPacks>& team,
                              const RowPacks<T, kCount, kPacks>& in) {
  Compute<T> top = -static_cast<Compute<T>>(INFINITY);
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto pack = in.get(team, p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) top = Max{}(top, pack.v[i]);
  }
  return team.reduce(top, Max{});
}

/// Sum of exp(x - top) over the row, whose missing packs are filled with -infinity.
template <class T, int kCount, int kPacks>
__device__ auto row_exponentials(const RowTeam<T, kCount, kPacks>& team,
                                 const RowPacks<T, kCount, kPacks>& in, Compute<T> top) {
  typename RowTeam<T, kCount, kPacks>::Sum total = 0;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    const auto pack = in.get(team, p);
    Compute<T> part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += std::exp(pack.v[i] - top);
    total += part;
  }
  return team.reduce(total, Sum{});
}

/// Calls f.template operator()<kPacks>(threads) for [rows, columns] in packs of kCount.
template <int kCount, class F>
void visit_row_packs(std::int64_t rows, std::int64_t columns, F&& f,
                     const std::source_location& where = std::source_location::current()) {
  constexpr int kMost = kCount == 1 ? 16 : 4;  // held by a thread
  const std::int64_t packs = std::max<std::int64_t>((columns + kCount - 1) / kCount, 1);
  const auto teams_of = [&](std::int64_t wanted) -> Threads {
    const auto team = std::bit_ceil(static_cast<unsigned>(wanted));
    const unsigned teams = kRowBlock / team;
    return {dim3(static_cast<unsigned>((rows + teams - 1) / teams)), dim3(team, teams), 0, where};
  };
  if (packs <= kWarp) {
    f.template operator()<1>(teams_of(packs));
  } else if (packs <= kWarp * kMost) {
    f.template operator()<kMost>(teams_of((packs + kMost - 1) / kMost));
  } else {
    f.template operator()<0>(Threads(dim3(static_cast<unsigned>(rows)), dim3(kRowBlock), 0, where));
  }
}

}  // namespace moiety::kernels::cuda

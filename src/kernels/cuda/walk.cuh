// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cpu_loops.h"
#include "kernels/cuda/simt.cuh"

// How a thread finds its elements of operands that are strided, or broadcast to the output. Threads
// are numbered by packs: kCount consecutive elements of the output. For .cu files alone.
namespace moiety::kernels::cuda {

/// Packs of one launch, so that their numbers are divided as 31-bit integers.
inline constexpr std::int64_t kMostPacks = (std::int64_t{1} << 31) - 1;

/// Division of 31-bit numbers by one that the host knows, as a multiplication and a shift (Granlund
/// and Montgomery 1994).
struct Divisor {
  std::uint32_t by = 1;
  std::uint32_t magic = 1;
  std::uint32_t shift = 0;

  Divisor() = default;
  /// 1 <= divisor < 2^31.
  explicit Divisor(std::int64_t divisor) : by(static_cast<std::uint32_t>(divisor)) {
    shift = static_cast<std::uint32_t>(std::bit_width(by - 1));
    const std::uint64_t above = (std::uint64_t{1} << shift) - by;
    magic = static_cast<std::uint32_t>((above << 32) / by + 1);
  }

  __device__ std::uint32_t quotient(std::uint32_t n) const {
    return (__umulhi(n, magic) + n) >> shift;
  }
};

/// Where the elements of kInputs operands are.
template <int kInputs>
struct Walk {
  std::int64_t size = 0;             ///< elements of the output
  std::int64_t inner[kInputs] = {};  ///< stride from element to element within a pack
  int last = 0;                      ///< the outermost dimension
  Divisor extents[kMaxDims];         ///< innermost first, that one in packs
  std::int64_t strides[kMaxDims][kInputs] = {};

  /// Sets at[i] to the place in operand i of the first element of a pack.
  __device__ void locate(std::uint32_t pack, std::int64_t (&at)[kInputs]) const {
#pragma unroll
    for (int i = 0; i < kInputs; ++i) at[i] = 0;
#pragma unroll
    for (int d = 0; d < kMaxDims; ++d) {
      const std::uint32_t outer = d == last ? 0 : extents[d].quotient(pack);
      const std::int64_t index = pack - outer * extents[d].by;
#pragma unroll
      for (int i = 0; i < kInputs; ++i) at[i] += index * strides[d][i];
      if (d == last) break;
      pack = outer;
    }
  }
};

/// Whether packs of `count` elements stay within a row of each operand, in which they are
/// consecutive or one repeated element, and begin at multiples of `count`.
template <int kInputs>
bool in_packs(const cpu::LoopNest<kInputs>& nest, int count) {
  if (nest.ndim > 1 && nest.inner() % count != 0) return false;
  for (int i = 0; i < kInputs; ++i) {
    if (nest.inner_stride(i) == 0) continue;
    if (nest.inner_stride(i) != 1) return false;
    for (int d = 0; d + 1 < nest.ndim; ++d) {
      if (nest.strides[d][i] % count != 0) return false;
    }
  }
  return true;
}

/// The walk over a nest of fewer than 2^31 packs of `count` elements.
template <int kInputs>
Walk<kInputs> make_walk(const cpu::LoopNest<kInputs>& nest, int count) {
  Walk<kInputs> walk;
  walk.size = nest.rows() * nest.inner();
  walk.last = nest.ndim - 1;
  for (int d = 0; d < nest.ndim; ++d) {
    const int from = nest.ndim - 1 - d;
    const int step = d == 0 ? count : 1;
    walk.extents[d] = Divisor((nest.extents[from] + step - 1) / step);
    for (int i = 0; i < kInputs; ++i) walk.strides[d][i] = step * nest.strides[from][i];
  }
  for (int i = 0; i < kInputs; ++i) walk.inner[i] = nest.inner_stride(i);
  return walk;
}

/// Calls f(part, in, out) for parts of a nest of at most `most` packs of `count` elements: their
/// operands begin in[i] elements further on, their output `out` elements. Nothing for an empty one.
template <int kInputs, class F>
void for_each_part(const cpu::LoopNest<kInputs>& nest, int count, const F& f,
                   std::int64_t most = kMostPacks, typename cpu::LoopNest<kInputs>::Offsets in = {},
                   std::int64_t out = 0) {
  const std::int64_t size = nest.rows() * nest.inner();
  if (size == 0) return;
  const std::int64_t packs = nest.rows() * ((nest.inner() + count - 1) / count);
  if (packs <= most) return f(nest, in, out);
  // The outermost dimension is cut, or else its indices are taken one by one.
  const std::int64_t extent = nest.extents[0];
  const std::int64_t each = size / extent;
  const std::int64_t per_index = nest.ndim == 1 ? 1 : packs / extent;
  const std::int64_t step =
      std::max<std::int64_t>(1, most / per_index) * (nest.ndim == 1 ? count : 1);
  for (std::int64_t begin = 0; begin < extent; begin += step) {
    cpu::LoopNest<kInputs> part = nest;
    part.extents[0] = std::min(step, extent - begin);
    auto at = in;
    for (int i = 0; i < kInputs; ++i) at[i] += begin * nest.strides[0][i];
    if (part.extents[0] == 1 && nest.ndim > 1) {
      --part.ndim;
      std::move(part.extents.begin() + 1, part.extents.end(), part.extents.begin());
      std::move(part.strides.begin() + 1, part.strides.end(), part.strides.begin());
    }
    for_each_part(part, count, f, most, at, out + begin * each);
  }
}

}  // namespace moiety::kernels::cuda

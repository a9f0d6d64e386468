// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/elementwise.h"

namespace moiety::kernels::cuda {
namespace {

constexpr int kTile = 32;      // rows and columns of a tile
constexpr int kTileLines = 8;  // of it that the threads of a block move at a time

struct Identity {
  template <class T>
  __device__ T operator()(T x) const {
    return x;
  }
};

/// Matrices that are transposed: out[m][r][c] = x[m][c][r], where r is consecutive in x and c in
/// the output, and m counts the other dimensions, innermost first.
struct Transposition {
  std::int64_t lines = 0;
  std::int64_t columns = 0;
  std::int64_t stride_in = 0;   ///< of c in x
  std::int64_t stride_out = 0;  ///< of r in the output
  std::uint32_t tiles_down = 0;
  std::uint32_t tiles_across = 0;
  std::uint32_t extents[kMaxDims] = {};
  std::int64_t strides_in[kMaxDims] = {};
  std::int64_t strides_out[kMaxDims] = {};
};

/// A block moves one tile, by way of shared memory: both sides are read and written along their
/// consecutive elements.
template <class T>
__global__ void transpose_kernel(Transposition t, const T* __restrict__ x, T* __restrict__ out) {
  MOIETY_SHARED(T, tile, [kTile][kTile + 1]);
  std::uint32_t matrix = blockIdx.x / (t.tiles_down * t.tiles_across);
  const std::uint32_t number = blockIdx.x % (t.tiles_down * t.tiles_across);
  const std::int64_t first_line = std::int64_t{number / t.tiles_across} * kTile;
  const std::int64_t first_column = std::int64_t{number % t.tiles_across} * kTile;
#pragma unroll
  for (int d = 0; d < kMaxDims - 2; ++d) {
    const std::int64_t index = matrix % t.extents[d];
    matrix /= t.extents[d];
    x += index * t.strides_in[d];
    out += index * t.strides_out[d];
  }
  const auto along = static_cast<int>(threadIdx.x);
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += kTileLines) {
    const std::int64_t line = first_line + along;
    const std::int64_t column = first_column + i;
    if (line < t.lines && column < t.columns) tile[i][along] = x[column * t.stride_in + line];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += kTileLines) {
    const std::int64_t line = first_line + i;
    const std::int64_t column = first_column + along;
    if (line < t.lines && column < t.columns) out[line * t.stride_out + column] = tile[along][i];
  }
}

/// The dimension that is consecutive in x where the innermost is not, or -1: read in the order of
/// the output, each element would cost a cache line. Both must be long enough to fill half a tile.
int transposed_dimension(const cpu::LoopNest<1>& nest) {
  constexpr std::int64_t kWorthwhile = kTile / 2;
  if (nest.inner_stride(0) <= 1 || nest.inner() < kWorthwhile) return -1;
  for (int d = 0; d + 1 < nest.ndim; ++d) {
    if (nest.strides[d][0] == 1 && nest.extents[d] >= kWorthwhile) return d;
  }
  return -1;
}

template <class T>
void copy_transposed(const Stream& stream, const cpu::LoopNest<1>& nest, int dimension,
                     const T* from, T* to) {
  Transposition t;
  t.lines = nest.extents[dimension];
  t.columns = nest.inner();
  t.stride_in = nest.inner_stride(0);
  std::int64_t step = t.columns;  // of dimension d in the output
  std::int64_t matrices = 1;
  int others = 0;
  for (auto& extent : t.extents) extent = 1;
  for (int d = nest.ndim - 2; d >= 0; --d) {
    if (d == dimension) {
      t.stride_out = step;
    } else {
      t.extents[others] = static_cast<std::uint32_t>(nest.extents[d]);
      t.strides_in[others] = nest.strides[d][0];
      t.strides_out[others++] = step;
      matrices *= nest.extents[d];
    }
    step *= nest.extents[d];
  }
  t.tiles_down = static_cast<std::uint32_t>((t.lines + kTile - 1) / kTile);
  t.tiles_across = static_cast<std::uint32_t>((t.columns + kTile - 1) / kTile);
  // Tiles hold 256 elements or more on average: no memory has room for 2^31.
  const auto tiles = static_cast<unsigned>(matrices * t.tiles_down * t.tiles_across);
  launch(transpose_kernel<T>, Threads(dim3(tiles), dim3(kTile, kTileLines)), stream, t, from, to);
}

}  // namespace

void copy(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.dtype == out.dtype && out.contiguous(), "copy: other dtype or strided output");
  const cpu::LoopNest<1> nest(out.shape, {&x});
  const int dimension = out.numel() == 0 ? -1 : transposed_dimension(nest);
  visit_size(size_of(x.dtype), [&]<class T>() {
    if (dimension < 0) return map<Bits, T, 1>(stream, out, {&x}, Identity{});
    copy_transposed(stream, nest, dimension, static_cast<const T*>(x.data),
                    static_cast<T*>(out.data));
  });
}

}  // namespace moiety::kernels::cuda

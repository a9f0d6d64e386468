// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensor/stream.h"
#include "tensor/view.h"

// How element-wise CPU kernels walk over strided and broadcast operands.
namespace moiety::kernels::cpu {

/// Elements of one task: less than this stays on one thread, as waking another costs microseconds.
inline constexpr std::int64_t kGrain = 16384;

/// Rows of `width` elements that make one task.
inline std::int64_t row_grain(std::int64_t width) {
  return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, width));
}

/// A loop nest over a contiguous output and kInputs inputs that broadcast to it, with dimensions
/// of extent 1 dropped and neighbours joined where every input allows: innermost last, at least one
/// dimension. Strides in elements, 0 along repeated dimensions.
template <int kInputs>
struct LoopNest {
  using Offsets = std::array<std::int64_t, kInputs>;

  LoopNest(const Shape& shape, const std::array<const TensorView*, kInputs>& inputs) {
    for (const TensorView* input : inputs) check_broadcast(*input, shape);
    for (int d = 0; d < shape.ndim(); ++d) {
      if (shape[d] == 1) continue;
      Offsets step;
      for (int i = 0; i < kInputs; ++i) step[i] = stride_along(*inputs[i], shape.ndim() - d);
      add_dimension(shape[d], step);
    }
    if (ndim == 0) add_dimension(1, {});
  }

  std::int64_t inner() const { return extents[ndim - 1]; }
  std::int64_t inner_stride(int input) const { return strides[ndim - 1][input]; }
  std::int64_t rows() const {
    std::int64_t n = 1;
    for (int d = 0; d + 1 < ndim; ++d) n *= extents[d];
    return n;
  }

  /// Where row `row` begins in each input, and its position in the outer dimensions.
  Offsets locate(std::int64_t row, std::array<std::int64_t, kMaxDims>& index) const {
    Offsets at{};
    for (int d = ndim - 2; d >= 0; --d) {
      index[d] = row % extents[d];
      row /= extents[d];
      for (int i = 0; i < kInputs; ++i) at[i] += index[d] * strides[d][i];
    }
    return at;
  }

  /// Moves to the next row.
  void advance(std::array<std::int64_t, kMaxDims>& index, Offsets& at) const {
    for (int d = ndim - 2; d >= 0; --d) {
      for (int i = 0; i < kInputs; ++i) at[i] += strides[d][i];
      if (++index[d] < extents[d]) return;
      index[d] = 0;
      for (int i = 0; i < kInputs; ++i) at[i] -= extents[d] * strides[d][i];
    }
  }

  int ndim = 0;
  std::array<std::int64_t, kMaxDims> extents{};
  std::array<Offsets, kMaxDims> strides{};

 private:
  static void check_broadcast(const TensorView& input, const Shape& shape) {
    check<ShapeError>(input.ndim() <= shape.ndim(), "cannot broadcast ", input.shape, " to ",
                      shape);
    for (int d = 1; d <= input.ndim(); ++d) {
      const std::int64_t n = input.shape[input.ndim() - d];
      check<ShapeError>(n == 1 || n == shape[shape.ndim() - d], "cannot broadcast ", input.shape,
                        " to ", shape);
    }
  }

  static std::int64_t stride_along(const TensorView& input, int from_end) {
    const int d = input.ndim() - from_end;
    return d < 0 || input.shape[d] == 1 ? 0 : input.strides[d];
  }

  void add_dimension(std::int64_t extent, const Offsets& step) {
    bool joins = ndim > 0;
    for (int i = 0; joins && i < kInputs; ++i) {
      joins = strides[ndim - 1][i] == extent * step[i];
    }
    if (!joins) extents[ndim++] = 1;
    extents[ndim - 1] *= extent;
    strides[ndim - 1] = step;
  }
};

/// Calls body(out, in, count) for runs of `count` elements that are consecutive in the output from
/// number `out`, and start at in[i] in input i, spaced by the nest's inner strides.
template <int kInputs, class Body>
void for_each_run(const Stream& stream, const LoopNest<kInputs>& nest, const Body& body) {
  using Offsets = typename LoopNest<kInputs>::Offsets;
  const std::int64_t inner = nest.inner();
  if (inner == 0) return;
  if (nest.ndim == 1) {
    parallel_for(stream, inner, kGrain, [&](std::int64_t begin, std::int64_t end) {
      Offsets at{};
      for (int i = 0; i < kInputs; ++i) at[i] = begin * nest.inner_stride(i);
      body(begin, at, end - begin);
    });
    return;
  }
  parallel_for(stream, nest.rows(), row_grain(inner), [&](std::int64_t begin, std::int64_t end) {
    std::array<std::int64_t, kMaxDims> index{};
    Offsets at = nest.locate(begin, index);
    for (std::int64_t row = begin; row < end; ++row) {
      body(row * inner, at, inner);
      nest.advance(index, at);
    }
  });
}

}  // namespace moiety::kernels::cpu

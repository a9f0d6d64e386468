// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cpu_halves.h"
#include "kernels/cpu_loops.h"

// Element-wise loops over operands of one floating dtype.
namespace moiety::kernels::cpu {

/// Elements of a run of bf16 or f16 that are converted at a time: they stay in the first cache.
inline constexpr std::int64_t kHalfRun = 512;

/// `count` elements of x as floats: from `offset` on, `stride` apart. Those of stride 0 are one.
inline void widen_run(const TensorView& x, std::int64_t offset, std::int64_t stride,
                      std::int64_t count, float* to) {
  const auto* from = static_cast<const std::uint16_t*>(x.data) + offset;
  if (stride <= 1) return widen(x.dtype, from, stride == 0 ? 1 : count, to);
  std::array<std::uint16_t, kHalfRun> dense;
  for (std::int64_t i = 0; i < count; ++i) dense[static_cast<std::size_t>(i)] = from[i * stride];
  widen(x.dtype, dense.data(), count, to);
}

/// Calls body(x, strides, y, count) in parallel for runs of `count` elements: y is consecutive
/// elements of `out`, x[i] the first of those of input i, which are strides[i] apart. All are of
/// out's dtype, which T is for (visit_compute), and the nest is over them. What the body writes
/// depends on the elements of a run alone, not on where runs begin.
template <class T, int kInputs, class Body>
void for_each_float_run(const Stream& stream, const LoopNest<kInputs>& nest,
                        const std::array<const TensorView*, kInputs>& inputs, const TensorView& out,
                        const Body& body) {
  std::array<std::int64_t, kInputs> strides;
  for (int i = 0; i < kInputs; ++i) {
    check<DTypeError>(inputs[i]->dtype == out.dtype, "expected ", out.dtype, ", got ",
                      inputs[i]->dtype);
    strides[i] = nest.inner_stride(i);
  }
  if (!is_half(out.dtype)) {
    std::array<const T*, kInputs> first;
    for (int i = 0; i < kInputs; ++i) first[i] = inputs[i]->template as<T>();
    T* to = out.as<T>();
    for_each_run(stream, nest, [&](std::int64_t at, const auto& offset, std::int64_t count) {
      std::array<const T*, kInputs> x;
      for (int i = 0; i < kInputs; ++i) x[i] = first[i] + offset[i];
      body(x, strides, to + at, count);
    });
    return;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    for_each_run(stream, nest, [&](std::int64_t at, const auto& offset, std::int64_t count) {
      std::array<std::array<float, kHalfRun>, kInputs> buffers;
      std::array<float, kHalfRun> y;
      std::array<const float*, kInputs> x;
      std::array<std::int64_t, kInputs> dense;
      for (int i = 0; i < kInputs; ++i) {
        x[i] = buffers[i].data();
        dense[i] = strides[i] == 0 ? 0 : 1;
      }
      auto* to = static_cast<std::uint16_t*>(out.data) + at;
      for (std::int64_t done = 0; done < count; done += kHalfRun) {
        const std::int64_t part = std::min(kHalfRun, count - done);
        for (int i = 0; i < kInputs; ++i) {
          widen_run(*inputs[i], offset[i] + done * strides[i], strides[i], part, buffers[i].data());
        }
        body(x, dense, y.data(), part);
        narrow(y.data(), part, out.dtype, to + done);
      }
    });
  }
}

}  // namespace moiety::kernels::cpu

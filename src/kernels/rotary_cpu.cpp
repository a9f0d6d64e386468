// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_loops.h"
#include "kernels/rotary.h"

namespace moiety::kernels::cpu {
namespace {

/// One head: `half` pairs.
template <class T>
void turn(const T* x, const T* cosine, const T* sine, T sign, std::int64_t half, T* out) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < half; ++i) {
    const T s = sign * sine[i];
    const T a = x[i];
    const T b = x[half + i];
    out[i] = a * cosine[i] - b * s;
    out[half + i] = a * s + b * cosine[i];
  }
}

}  // namespace

void rotary(const Stream& stream, bool back, const TensorView& x, const TensorView& positions,
            const TensorView& table, const TensorView& out) {
  const std::int64_t heads = x.shape[1];
  const std::int64_t size = x.shape[2];
  const auto* position = positions.as<std::int32_t>();
  visit_float(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    const T* angles = table.as<T>();
    T* to = out.as<T>();
    const T sign = back ? T(-1) : T(1);
    parallel_for(stream, x.shape[0], row_grain(heads * size),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t t = begin; t < end; ++t) {
                     const T* cosine = angles + position[t] * size;
                     for (std::int64_t h = 0; h < heads; ++h) {
                       turn(from + t * x.strides[0] + h * x.strides[1], cosine, cosine + size / 2,
                            sign, size / 2, to + (t * heads + h) * size);
                     }
                   }
                 });
  });
}

}  // namespace moiety::kernels::cpu

// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/cpu_loops.h"
#include "kernels/shape.h"

namespace moiety::kernels::cpu {

void insert(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.dtype == out.dtype && x.contiguous(), "insert: ", x.shape,
               " into ", out.shape);
  const LoopNest<1> nest(x.shape, {&out});  // the walk is over x; `out` is what is strided
  const std::int64_t stride = nest.inner_stride(0);
  visit_any(x.dtype, [&]<class T> {
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out.data);
    for_each_run(stream, nest, [&](std::int64_t at, const auto& target, std::int64_t count) {
      T* y = to + target[0];
      if (stride == 1) {
        std::memcpy(y, from + at, static_cast<std::size_t>(count) * sizeof(T));
      } else {
        for (std::int64_t i = 0; i < count; ++i) y[i * stride] = from[at + i];
      }
    });
  });
}

}  // namespace moiety::kernels::cpu

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/reduce.h"

namespace moiety::kernels::cuda {
namespace {

/// Sums of packs of kCount elements: column by column, or with kAlong into one, where the packs are
/// cut from rows to be summed along.
template <class T, int kCount, bool kAlong>
struct PackSum : SumReducer<Compute<T>, kCount> {
  using Base = SumReducer<Compute<T>, kCount>;
  const T* x;
  double scale;
  T* out;

  __device__ void take(typename Base::Running& running, std::int64_t u, std::int64_t) const {
    Pack<T, kCount> term;
    term.load(x + u * kCount);
#pragma unroll
    for (int i = 0; i < kCount; ++i) running.run[i] += term.v[i];
  }
  __device__ void finish(const typename Base::Value& sums, std::int64_t o) const {
    if constexpr (kAlong) {
      double total = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) total += sums.v[i];
      out[o] = narrow<T>(static_cast<Compute<T>>(scale * total));
    } else {
      Pack<T, kCount> result;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        result.v[i] = static_cast<Compute<T>>(scale * sums.v[i]);
      }
      result.store(out + o * kCount);
    }
  }
};

}  // namespace

void sum(const Stream& stream, double scale, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.ndim() == 3 && out.shape == Shape({x.shape[0], x.shape[2]}) && x.contiguous() &&
                   out.contiguous(),
               "sum: ", x.shape, " to ", out.shape);
  const std::int64_t outer = x.shape[0];
  const std::int64_t rows = x.shape[1];
  const std::int64_t columns = x.shape[2];
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = out.as<T>();
    if (columns == 1) {
      visit_width<T>(
          rows,
          [&]<int kCount>() {
            const PackSum<T, kCount, true> reducer{{}, from, scale, to};
            reduce_middle(stream, reducer, outer, rows / kCount, 1, kCount * sizeof(T));
          },
          from);
    } else {
      visit_width<T>(
          columns,
          [&]<int kCount>() {
            const PackSum<T, kCount, false> reducer{{}, from, scale, to};
            reduce_middle(stream, reducer, outer, rows, columns / kCount, kCount * sizeof(T));
          },
          from, to);
    }
  });
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/shape.h"

namespace moiety::kernels::cuda {
namespace {

/// The walk is over x, whose packs are in order; `out` is what is strided.
template <class T, int kCount>
__global__ void insert_kernel(Walk<1> walk, const T* __restrict__ x, T* __restrict__ out) {
  const std::int64_t number = pack_number();
  const std::int64_t first = number * kCount;
  if (first >= walk.size) return;
  const int count = elements_at<kCount>(first, walk.size);
  std::int64_t at[1];
  walk.locate(static_cast<std::uint32_t>(number), at);
  Bits<T, kCount> pack;
  load_some(pack, x + first, count);
  store_some(pack, out + at[0], count);
}

template <class T>
void insert_bits(const Stream& stream, const TensorView& x, const TensorView& out) {
  const cpu::LoopNest<1> nest(x.shape, {&out});
  const bool wide = in_packs(nest, kWide<T>) && is_aligned(x.data) && is_aligned(out.data);
  const auto run = [&]<int kCount>() {
    for_each_part(nest, kCount, [&](const auto& part, const auto& place, std::int64_t first) {
      const Walk<1> walk = make_walk(part, kCount);
      launch(insert_kernel<T, kCount>, pack_threads(walk.size, kCount), stream, walk,
             static_cast<const T*>(x.data) + first, static_cast<T*>(out.data) + place[0]);
    });
  };
  wide ? run.template operator()<kWide<T>>() : run.template operator()<1>();
}

}  // namespace

void insert(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.dtype == out.dtype && x.contiguous(), "insert: ", x.shape,
               " into ", out.shape);
  visit_size(size_of(x.dtype), [&]<class T>() { insert_bits<T>(stream, x, out); });
}

}  // namespace moiety::kernels::cuda

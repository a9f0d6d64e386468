// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "kernels/cuda/map.cuh"
#include "kernels/elementwise.h"

namespace moiety::kernels::cuda {
namespace {

template <class C>
struct Affine {
  C scale;
  C shift;
  __device__ C operator()(C x) const { return scale * x + shift; }
};

struct InverseRoot {
  template <class C>
  __device__ C operator()(C x) const {
    return C{1} / std::sqrt(x);
  }
};

struct Inverse {
  template <class C>
  __device__ C operator()(C x) const {
    return C{1} / x;
  }
};

struct Square {
  template <class C>
  __device__ C operator()(C x) const {
    return x * x;
  }
};

struct Cube {
  template <class C>
  __device__ C operator()(C x) const {
    return x * x * x;
  }
};

template <class C>
struct Power {
  C exponent;
  __device__ C operator()(C x) const { return std::pow(x, exponent); }
};

template <class T, int kCount>
__global__ void fill_kernel(T value, std::int64_t size, T* __restrict__ out) {
  const std::int64_t first = pack_number() * kCount;
  if (first >= size) return;
  Bits<T, kCount> pack;
  pack.fill(value);
  store_some(pack, out + first, elements_at<kCount>(first, size));
}

template <class From, class To, int kCount>
__global__ void cast_kernel(const From* __restrict__ x, std::int64_t size, To* __restrict__ out) {
  const std::int64_t first = pack_number() * kCount;
  if (first >= size) return;
  const int count = elements_at<kCount>(first, size);
  Pack<From, kCount> from;
  load_some(from, x + first, count);
  Pack<To, kCount> to;
#pragma unroll
  for (int i = 0; i < kCount; ++i) to.v[i] = static_cast<Compute<To>>(from.v[i]);
  store_some(to, out + first, count);
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
void fill_bits(const Stream& stream, const TensorView& out, T value) {
  T* to = static_cast<T*>(out.data);
  const auto run = [&]<int kCount>() {
    launch(fill_kernel<T, kCount>, pack_threads(out.numel(), kCount), stream, value, out.numel(),
           to);
  };
  is_aligned(to) ? run.template operator()<kWide<T>>() : run.template operator()<1>();
}

}  // namespace

void affine(const Stream& stream, double scale, double shift, const TensorView& x,
            const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && out.contiguous(), x.shape, " to ", out.shape);
  visit_floating(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    map<Pack, T, 1>(stream, out, {&x}, Affine<C>{static_cast<C>(scale), static_cast<C>(shift)});
  });
}

void pow(const Stream& stream, double exponent, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && out.contiguous(), x.shape, " to ", out.shape);
  visit_floating(out.dtype, [&]<class T>() {
    const auto run = [&](const auto& f) { map<Pack, T, 1>(stream, out, {&x}, f); };
    if (exponent == -0.5) return run(InverseRoot{});
    if (exponent == -1.0) return run(Inverse{});
    if (exponent == 2.0) return run(Square{});
    if (exponent == 3.0) return run(Cube{});
    run(Power<Compute<T>>{static_cast<Compute<T>>(exponent)});
  });
}

void fill(const Stream& stream, const TensorView& out, double value) {
  MOIETY_CHECK(out.contiguous(), "fill: strided output");
  visit_any(out.dtype, [&]<class T>() {
    const T element = from_double<T>(value);
    if constexpr (sizeof(T) == 1) fill_bits(stream, out, std::bit_cast<std::uint8_t>(element));
    if constexpr (sizeof(T) == 2) fill_bits(stream, out, std::bit_cast<std::uint16_t>(element));
    if constexpr (sizeof(T) == 4) fill_bits(stream, out, std::bit_cast<std::uint32_t>(element));
    if constexpr (sizeof(T) == 8) fill_bits(stream, out, std::bit_cast<std::uint64_t>(element));
  });
}

void cast(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.contiguous() && out.contiguous(), "cast: ", x.shape,
               " to ", out.shape);
  visit_floating(x.dtype, [&]<class From>() {
    visit_floating(out.dtype, [&]<class To>() {
      const From* from = x.as<From>();
      To* to = out.as<To>();
      const auto run = [&]<int kCount>() {
        launch(cast_kernel<From, To, kCount>, pack_threads(x.numel(), kCount), stream, from,
               x.numel(), to);
      };
      // 16 bytes of the wider type.
      constexpr int kBoth = std::min(kWide<From>, kWide<To>);
      is_aligned(from) && is_aligned(to) ? run.template operator()<kBoth>()
                                         : run.template operator()<1>();
    });
  });
}

}  // namespace moiety::kernels::cuda

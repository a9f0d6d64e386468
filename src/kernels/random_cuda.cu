// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cuda/map.cuh"
#include "kernels/portable_math.h"
#include "kernels/random.h"

namespace moiety::kernels::cuda {
namespace {

/// Elements of a thread: those of whole Philox counters, and 16 bytes or more.
template <class T>
constexpr int kRun = std::max(4, kWide<T>);

/// Sets kCount words of a stream, from number 4 * counter.
template <int kCount>
__device__ void random_words(RngKey key, std::uint64_t counter, std::uint32_t (&words)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const auto four = philox(key, counter + static_cast<std::uint64_t>(i / 4));
#pragma unroll
    for (int j = 0; j < 4; ++j) words[i + j] = four[static_cast<std::size_t>(j)];
  }
}

/// Fused as the CPU does it where it can, so that both give the same bits.
template <class C>
struct Uniform {
  C low;
  C step;

  template <int kCount>
  __device__ void operator()(const std::uint32_t (&words)[kCount], C (&values)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = std::fma(step, static_cast<C>(static_cast<std::int32_t>(words[i] >> 8)), low);
    }
  }
};

template <class C>
struct Normal {
  double mean;
  double sd;

  template <int kCount>
  __device__ void operator()(const std::uint32_t (&words)[kCount], C (&values)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      const auto pair = portable::normal_pair(words[i], words[i + 1], mean, sd);
      values[i] = static_cast<C>(pair.first);
      values[i + 1] = static_cast<C>(pair.second);
    }
  }
};

template <class T, int kCount, class Rule>
__global__ void random_kernel(RngKey key, Rule rule, std::int64_t size, T* __restrict__ out) {
  const std::int64_t begin = pack_number() * kRun<T>;
  if (begin >= size) return;
  std::uint32_t words[kRun<T>];
  random_words(key, static_cast<std::uint64_t>(begin) / 4, words);
  Compute<T> values[kRun<T>];
  rule(words, values);
#pragma unroll
  for (int i = 0; i < kRun<T>; i += kCount) {
    const std::int64_t first = begin + i;
    if (first >= size) continue;
    Pack<T, kCount> pack;
#pragma unroll
    for (int j = 0; j < kCount; ++j) pack.v[j] = values[i + j];
    store_some(pack, out + first, elements_at<kCount>(first, size));
  }
}

/// The key is read where a place for it is given. Threads take the counters from first / 4 on.
/// Where `first` is not a multiple of 4, elements lie across packs and are taken one by one: kCount
/// is 1.
template <class T, int kCount>
__global__ void dropout_kernel(RngKey given, const RngKey* read, std::uint64_t first,
                               std::int32_t threshold, Compute<T> scale, const T* x,
                               std::int64_t size, T* out) {
  const std::int64_t number = pack_number();
  const std::int64_t begin = number * kRun<T> - static_cast<std::int64_t>(first % 4);
  if (begin >= size) return;
  const RngKey key = read != nullptr ? *read : given;
  std::uint32_t words[kRun<T>];
  random_words(key, first / 4 + static_cast<std::uint64_t>(number) * (kRun<T> / 4), words);
#pragma unroll
  for (int i = 0; i < kRun<T>; i += kCount) {
    const std::int64_t at = begin + i;
    if (at < 0 || at >= size) continue;
    const int count = elements_at<kCount>(at, size);
    Pack<T, kCount> pack;
    load_some(pack, x + at, count);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const bool drops = static_cast<std::int32_t>(words[i + j] >> 8) < threshold;
      pack.v[j] = drops ? 0 : pack.v[j] * scale;
    }
    store_some(pack, out + at, count);
  }
}

template <class T, class Rule>
void generate(const Stream& stream, RngKey key, const Rule& rule, const TensorView& out) {
  T* to = out.as<T>();
  const auto run = [&]<int kCount>() {
    launch(random_kernel<T, kCount, Rule>, pack_threads(out.numel(), kRun<T>), stream, key, rule,
           out.numel(), to);
  };
  is_aligned(to) ? run.template operator()<kWide<T>>() : run.template operator()<1>();
}

}  // namespace

void random_uniform(const Stream& stream, RngKey key, double low, double high,
                    const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "random_uniform: strided output");
  visit_floating(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    const Uniform<C> rule{static_cast<C>(low), static_cast<C>((high - low) * 0x1p-24)};
    generate<T>(stream, key, rule, out);
  });
}

void random_normal(const Stream& stream, RngKey key, double mean, double sd,
                   const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "random_normal: strided output");
  visit_floating(out.dtype, [&]<class T>() {
    generate<T>(stream, key, Normal<Compute<T>>{mean, sd}, out);
  });
}

void dropout(const Stream& stream, const KeySource& key, std::uint64_t first, double p,
             const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.contiguous() && out.contiguous() && 0 <= p && p < 1,
               "dropout of ", x.shape, " with p = ", p);
  // random_uniform() < p, in integers.
  const auto threshold = static_cast<std::int32_t>(std::ceil(p * 0x1p24));
  const std::int64_t size = x.numel();
  visit_floating(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = out.as<T>();
    const auto scale = static_cast<Compute<T>>(1.0 / (1.0 - p));
    const auto skipped = static_cast<std::int64_t>(first % 4);
    const auto run = [&]<int kCount>() {
      launch(dropout_kernel<T, kCount>, pack_threads(size + skipped, kRun<T>), stream, key.given,
             key.place(), first, threshold, scale, from, size, to);
    };
    skipped == 0 && is_aligned(from) && is_aligned(to) ? run.template operator()<kWide<T>>()
                                                       : run.template operator()<1>();
  });
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_loops.h"
#include "kernels/cpu_philox.h"
#include "kernels/portable_math.h"
#include "kernels/random.h"

namespace moiety::kernels::cpu {
namespace {

template <class T>
void drop(const T* x, const std::uint32_t* words, std::int32_t threshold, T scale, T* y,
          std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const T scaled = x[i] * scale;
    y[i] = static_cast<std::int32_t>(words[i] >> 8) < threshold ? T(0) : scaled;
  }
}

}  // namespace

void random_uniform(const Stream& stream, RngKey key, double low, double high,
                    const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "random_uniform: strided output");
  visit_float(out.dtype, [&]<class T> {
    T* to = out.as<T>();
    const T from = static_cast<T>(low);
    const T step = static_cast<T>((high - low) * 0x1p-24);
    parallel_for(stream, out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      for_random_runs(
          key, 0, begin, end, [=](std::int64_t i, const std::uint32_t* words, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
              // Fused by name: left to the compiler, the last bit would depend on its options.
              to[i + k] =
                  std::fma(step, static_cast<T>(static_cast<std::int32_t>(words[k] >> 8)), from);
            }
          });
    });
  });
}

void random_normal(const Stream& stream, RngKey key, double mean, double sd,
                   const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "random_normal: strided output");
  visit_float(out.dtype, [&]<class T> {
    T* to = out.as<T>();
    parallel_for(stream, out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      // Runs begin at even elements: chunks and blocks are even, and the stream starts at 0.
      for_random_runs(key, 0, begin, end,
                      [=](std::int64_t i, const std::uint32_t* words, std::int64_t count) {
                        for (std::int64_t k = 0; k < count; k += 2) {
                          const auto pair = portable::normal_pair(words[k], words[k + 1], mean, sd);
                          to[i + k] = static_cast<T>(pair.first);
                          if (k + 1 < count) to[i + k + 1] = static_cast<T>(pair.second);
                        }
                      });
    });
  });
}

void dropout(const Stream& stream, const KeySource& source, std::uint64_t first, double p,
             const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.contiguous() && out.contiguous() && 0 <= p && p < 1,
               "dropout of ", x.shape, " with p = ", p);
  const RngKey key = source.place() != nullptr ? *source.place() : source.given;
  // random_uniform() < p, in integers.
  const auto threshold = static_cast<std::int32_t>(std::ceil(p * 0x1p24));
  visit_float(x.dtype, [&]<class T> {
    const T* from = x.as<T>();
    T* to = out.as<T>();
    const T scale = static_cast<T>(1.0 / (1.0 - p));
    parallel_for(stream, x.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      for_random_runs(key, first, begin, end,
                      [=](std::int64_t i, const std::uint32_t* words, std::int64_t count) {
                        drop(from + i, words, threshold, scale, to + i, count);
                      });
    });
  });
}

}  // namespace moiety::kernels::cpu

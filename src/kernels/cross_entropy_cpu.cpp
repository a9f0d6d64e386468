// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_math.h"
#include "kernels/cpu_reduce.h"
#include "kernels/cross_entropy.h"

namespace moiety::kernels::cpu {
namespace {

/// Sum of exp(x - top), in short runs.
template <class T>
double sum_of_exponentials(const T* x, std::int64_t n, T top) {
  constexpr std::int64_t kSums = 16;
  std::array<T, kSums> sums{};
  const std::int64_t whole = n / kSums * kSums;
  for (std::int64_t c = 0; c < whole; c += kSums) {
    for (std::int64_t s = 0; s < kSums; ++s) {
      sums[static_cast<std::size_t>(s)] += math::exp(x[c + s] - top);
    }
  }
  double total = 0;
  for (const T s : sums) total += static_cast<double>(s);
  for (std::int64_t c = whole; c < n; ++c) total += static_cast<double>(math::exp(x[c] - top));
  return total;
}

/// The loss of one row; its gradient where there is a place for it.
template <class T>
T take_row(const T* scores, std::int64_t classes, std::int32_t target, T* dscores) {
  const T top = row_max(scores, classes);
  const T lse = top + static_cast<T>(std::log(sum_of_exponentials(scores, classes, top)));
  const T loss = lse - scores[target];
  if (dscores == nullptr) return loss;
  for (std::int64_t c = 0; c < classes; ++c) dscores[c] = math::exp(scores[c] - lse);
  dscores[target] -= T{1};
  return loss;
}

}  // namespace

void cross_entropy(const Stream& stream, const TensorView& scores, const TensorView& target,
                   const TensorView& loss, const TensorView& dscores) {
  const auto* targets = target.as<std::int32_t>();
  const std::int64_t classes = scores.size(1);
  visit_float(scores.dtype, [&]<class T>() {
    const T* from = scores.as<T>();
    T* gradients = dscores.defined() ? dscores.as<T>() : nullptr;
    T* losses = loss.as<T>();
    parallel_for(stream, scores.size(0), row_grain(classes),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t n = begin; n < end; ++n) {
                     T* to = gradients == nullptr ? nullptr : gradients + n * classes;
                     check(targets[n] < classes, "cross_entropy: target[", n, "] is ", targets[n],
                           ", which is not below ", classes);
                     if (targets[n] >= 0) {
                       losses[n] = take_row(from + n * classes, classes, targets[n], to);
                     } else {
                       losses[n] = 0;
                       if (to != nullptr) std::fill_n(to, classes, T{0});
                     }
                   }
                 });
  });
}

}  // namespace moiety::kernels::cpu

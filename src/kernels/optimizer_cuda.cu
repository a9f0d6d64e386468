// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/optimizer_step.h"
#include "tensor/storage.h"

namespace moiety::kernels::cuda {
namespace {

constexpr int kMostRanges = 128;  // of one launch: with the rest, within 4 KiB of arguments

/// A number for each element: values[r] in [begin[r], end[r]), `outside` elsewhere.
struct Piecewise {
  double outside = 0;
  int count = 0;
  double values[kMostRanges] = {};
  std::int64_t begin[kMostRanges] = {};
  std::int64_t end[kMostRanges] = {};

  /// The first range that ends beyond an element.
  __device__ int find(std::int64_t element) const {
    int low = 0;
    int high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (end[middle] <= element) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// The number of an element at or behind the one for which `range` was found; moves `range` on.
  __device__ double at(std::int64_t element, int& range) const {
    while (range < count && end[range] <= element) ++range;
    return range < count && begin[range] <= element ? values[range] : outside;
  }
};

/// `decoupled`: the number of an element is what its parameter is multiplied with. Else it is the
/// parameter's share in the gradient.
template <class T, int kCount>
__global__ void adam_kernel(AdamFactors<Compute<T>> f, bool decoupled, Piecewise decay,
                            std::int64_t first, std::int64_t size, const T* __restrict__ gradients,
                            T* __restrict__ parameters, T* __restrict__ m, T* __restrict__ v) {
  using C = Compute<T>;
  const std::int64_t begin = first + pack_number() * kCount;
  if (begin >= size) return;
  const int count = elements_at<kCount>(begin, size);
  Pack<T, kCount> grad, p, mean, square;
  load_some(grad, gradients + begin, count);
  load_some(p, parameters + begin, count);
  load_some(mean, m + begin, count);
  load_some(square, v + begin, count);
  int range = decay.find(begin);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const C factor = static_cast<C>(decay.at(begin + i, range));
    const C keep = decoupled ? factor : C{1};
    const C coupled = decoupled ? C{0} : factor;
    const C g = grad.v[i] * f.gradient_scale + coupled * p.v[i];
    mean.v[i] = f.beta1 * mean.v[i] + f.one_minus_beta1 * g;
    square.v[i] = f.beta2 * square.v[i] + f.one_minus_beta2 * g * g;
    const C root = std::sqrt(square.v[i]) * f.root_correction + f.eps;
    p.v[i] = keep * p.v[i] - f.rate * mean.v[i] / root;
  }
  store_some(mean, m + begin, count);
  store_some(square, v + begin, count);
  store_some(p, parameters + begin, count);
}

template <class C>
struct SgdFactors {
  C lr, gradient_scale, momentum;
  C own, along;  ///< p -= lr (own g + along b)
};

/// `velocity` may be null: no momentum.
template <class T, int kCount>
__global__ void sgd_kernel(SgdFactors<Compute<T>> f, Piecewise decay, std::int64_t first,
                           std::int64_t size, const T* __restrict__ gradients,
                           T* __restrict__ parameters, T* __restrict__ velocity) {
  using C = Compute<T>;
  const std::int64_t begin = first + pack_number() * kCount;
  if (begin >= size) return;
  const int count = elements_at<kCount>(begin, size);
  Pack<T, kCount> grad, p, b;
  load_some(grad, gradients + begin, count);
  load_some(p, parameters + begin, count);
  b.fill(0);
  if (velocity != nullptr) load_some(b, velocity + begin, count);
  int range = decay.find(begin);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const C share = static_cast<C>(decay.at(begin + i, range));
    const C g = grad.v[i] * f.gradient_scale + share * p.v[i];
    b.v[i] = f.momentum * b.v[i] + g;
    p.v[i] -= f.lr * (f.own * g + f.along * b.v[i]);
  }
  if (velocity != nullptr) store_some(b, velocity + begin, count);
  store_some(p, parameters + begin, count);
}

template <class T, int kCount>
__global__ void lerp_kernel(const T* __restrict__ from, Compute<T> weight, std::int64_t size,
                            T* __restrict__ into) {
  const std::int64_t first = pack_number() * kCount;
  if (first >= size) return;
  const int count = elements_at<kCount>(first, size);
  Pack<T, kCount> x, y;
  load_some(x, from + first, count);
  load_some(y, into + first, count);
#pragma unroll
  for (int i = 0; i < kCount; ++i) y.v[i] += weight * (x.v[i] - y.v[i]);
  store_some(y, into + first, count);
}

/// partial[block] = sum of the squares of every gridDim.x-th run of elements. What a thread adds,
/// and in which order, does not depend on `aligned`, whether 16 bytes are read at a time.
template <class T>
__global__ void squared_norm_kernel(const T* __restrict__ x, std::int64_t size, bool aligned,
                                    double* __restrict__ partial) {
  MOIETY_SHARED(double, scratch, [kWarp]);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * kWide<T>;
  double sum = 0;
  for (std::int64_t first = pack_number() * kWide<T>; first < size; first += step) {
    const int count = elements_at<kWide<T>>(first, size);
    Pack<T, kWide<T>> pack;
    if (aligned) {
      load_some(pack, x + first, count);
    } else {
#pragma unroll
      for (int i = 0; i < kWide<T>; ++i) pack.v[i] = i < count ? widen(x[first + i]) : 0;
    }
#pragma unroll
    for (int i = 0; i < kWide<T>; ++i) {
      const auto value = static_cast<double>(pack.v[i]);
      sum += value * value;
    }
  }
  sum = block_reduce(sum, Sum{}, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// One block: the sum of what the blocks above have left.
__global__ void sum_partials_kernel(const double* __restrict__ partial, int count,
                                    double* __restrict__ out) {
  MOIETY_SHARED(double, scratch, [kWarp]);
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    sum += partial[i];
  }
  sum = block_reduce(sum, Sum{}, scratch);
  if (threadIdx.x == 0) *out = sum;
}

/// Calls f(first, end, piecewise) for elements [first, end) that cover [0, size): once for up to
/// kMostRanges ranges. value(decay) is the number of an element that decays.
template <class Value, class F>
void for_each_piecewise(std::span<const DecayRange> decay, std::int64_t size, const Value& value,
                        const F& f) {
  constexpr std::int64_t kUnit = 16;  // the next launch begins at a whole pack again
  for (std::int64_t first = 0; first < size;) {
    Piecewise piecewise;
    piecewise.outside = value(0.0);
    std::size_t taken = 0;
    for (; taken < decay.size() && piecewise.count < kMostRanges; ++taken) {
      const DecayRange& range = decay[taken];
      if (range.begin == range.end) continue;
      piecewise.begin[piecewise.count] = range.begin;
      piecewise.end[piecewise.count] = range.end;
      piecewise.values[piecewise.count++] = value(range.decay);
    }
    std::int64_t end = size;
    if (taken < decay.size()) {
      end = piecewise.end[kMostRanges - 1] / kUnit * kUnit;
      while (!decay.empty() && decay.front().end <= end) decay = decay.subspan(1);
    }
    f(first, end, piecewise);
    first = end;
  }
}

/// Calls f.template operator()<width>() with the elements that a thread reads at a time.
template <class T, class F, class... Pointers>
void visit_alignment(const F& f, const Pointers*... pointers) {
  (is_aligned(pointers) && ...) ? f.template operator()<kWide<T>>() : f.template operator()<1>();
}

}  // namespace

void adam(const Stream& stream, const AdamStep& step, std::span<const DecayRange> decay,
          const TensorView& gradients, const TensorView& parameters, const TensorView& m,
          const TensorView& v) {
  check_lengths("adam", parameters, {&gradients, &m, &v});
  check_ranges("adam", decay, parameters.numel());
  const bool decoupled = step.decoupled_decay;
  visit_floating(parameters.dtype, [&]<class T>() {
    const AdamFactors<Compute<T>> factors(step);
    const T* g = gradients.as<T>();
    T *p = parameters.as<T>(), *first_moment = m.as<T>(), *second_moment = v.as<T>();
    const auto run = [&]<int kCount>() {
      for_each_piecewise(
          decay, parameters.numel(),
          [&](double factor) { return decoupled ? 1 - step.lr * factor : factor; },
          [&](std::int64_t first, std::int64_t end, const Piecewise& piecewise) {
            launch(adam_kernel<T, kCount>, pack_threads(end - first, kCount), stream, factors,
                   decoupled, piecewise, first, end, g, p, first_moment, second_moment);
          });
    };
    visit_alignment<T>(run, g, p, first_moment, second_moment);
  });
}

void sgd(const Stream& stream, const SgdStep& step, std::span<const DecayRange> decay,
         const TensorView& gradients, const TensorView& parameters, const TensorView& velocity) {
  check_lengths("sgd", parameters, {&gradients});
  if (velocity.defined()) check_lengths("sgd", parameters, {&velocity});
  check(velocity.defined() || step.momentum == 0, "sgd: momentum ", step.momentum,
        " needs a velocity array");
  check_ranges("sgd", decay, parameters.numel());
  visit_floating(parameters.dtype, [&]<class T>() {
    using C = Compute<T>;
    SgdFactors<C> factors;
    factors.lr = static_cast<C>(step.lr);
    factors.gradient_scale = static_cast<C>(step.gradient_scale);
    factors.momentum = static_cast<C>(step.momentum);
    factors.own = step.nesterov ? C{1} : C{0};
    factors.along = step.nesterov ? factors.momentum : C{1};
    const T* g = gradients.as<T>();
    T* p = parameters.as<T>();
    T* b = velocity.defined() ? velocity.as<T>() : nullptr;
    const auto run = [&]<int kCount>() {
      for_each_piecewise(
          decay, parameters.numel(), [](double factor) { return factor; },
          [&](std::int64_t first, std::int64_t end, const Piecewise& piecewise) {
            launch(sgd_kernel<T, kCount>, pack_threads(end - first, kCount), stream, factors,
                   piecewise, first, end, g, p, b);
          });
    };
    visit_alignment<T>(run, g, p, b);
  });
}

void squared_norm(const Stream& stream, const TensorView& x, double& out) {
  MOIETY_CHECK(x.contiguous());
  constexpr std::int64_t kPacksOfThread = 4;
  constexpr std::int64_t kMostBlocks = 1024;
  const std::int64_t size = x.numel();
  out = 0;
  visit_floating(x.dtype, [&]<class T>() {
    const T* values = x.as<T>();
    const std::int64_t share = kPacksOfThread * kWide<T>;
    const unsigned blocks = blocks_for((size + share - 1) / share, kMapBlock, kMostBlocks);
    if (blocks == 0) return;
    const Storage scratch(stream.device(), (blocks + 1) * sizeof(double));
    auto* partial = reinterpret_cast<double*>(scratch.data());
    double* total = partial + blocks;
    launch(squared_norm_kernel<T>, Threads(dim3(blocks), dim3(kMapBlock)), stream, values, size,
           is_aligned(values), partial);
    launch(sum_partials_kernel, Threads(dim3(1), dim3(kMapBlock)), stream, partial,
           static_cast<int>(blocks), total);
    stream.device().copy_bytes(&out, total, sizeof(double), stream);  // waits
  });
}

void lerp(const Stream& stream, const TensorView& from_view, double weight,
          const TensorView& into_view) {
  check_lengths("lerp", into_view, {&from_view});
  visit_floating(into_view.dtype, [&]<class T>() {
    const T* from = from_view.as<T>();
    T* into = into_view.as<T>();
    const auto w = static_cast<Compute<T>>(weight);
    const auto run = [&]<int kCount>() {
      launch(lerp_kernel<T, kCount>, pack_threads(into_view.numel(), kCount), stream, from, w,
             into_view.numel(), into);
    };
    visit_alignment<T>(run, from, into);
  });
}

}  // namespace moiety::kernels::cuda

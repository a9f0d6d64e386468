// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/optimizer_step.h"

namespace moiety::kernels::cuda {
namespace {

constexpr int kMostRanges = 128;  // of one launch: with the rest, within 4 KiB of arguments

/// The decay of each element: values[r] in [begin[r], end[r]), none elsewhere.
struct Piecewise {
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
  /// The decay of an element at or behind the one for which `range` was found; moves `range` on.
  __device__ double at(std::int64_t element, int& range) const {
    while (range < count && end[range] <= element) ++range;
    return range < count && begin[range] <= element ? values[range] : 0;
  }
};

/// `decision` may be null: then factors and lr are those given.
template <class T, int kCount>
__global__ void adam_kernel(AdamFactors<Compute<T>> f, double lr, const StepDecision* decision,
                            bool decoupled, Piecewise decay, std::int64_t first, std::int64_t size,
                            const T* __restrict__ gradients, T* __restrict__ parameters,
                            T* __restrict__ m, T* __restrict__ v) {
  using C = Compute<T>;
  const std::int64_t begin = first + pack_number() * kCount;
  if (begin >= size) return;
  if (decision != nullptr) {
    if (decision->usable == 0) return;
    f.follow(*decision);
    lr = decision->lr;
  }
  const int count = elements_at<kCount>(begin, size);
  Pack<T, kCount> grad, p, mean, square;
  load_some(grad, gradients + begin, count);
  load_some(p, parameters + begin, count);
  load_some(mean, m + begin, count);
  load_some(square, v + begin, count);
  int range = decay.find(begin);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const double factor = decay.at(begin + i, range);
    const C keep = decoupled ? static_cast<C>(1 - lr * factor) : C{1};
    const C coupled = decoupled ? C{0} : static_cast<C>(factor);
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

/// `velocity` may be null: no momentum. So may `decision`: rate and scale are those given.
template <class T, int kCount>
__global__ void sgd_kernel(SgdFactors<Compute<T>> f, const StepDecision* decision, Piecewise decay,
                           std::int64_t first, std::int64_t size, const T* __restrict__ gradients,
                           T* __restrict__ parameters, T* __restrict__ velocity) {
  using C = Compute<T>;
  const std::int64_t begin = first + pack_number() * kCount;
  if (begin >= size) return;
  if (decision != nullptr) {
    if (decision->usable == 0) return;
    f.lr = static_cast<C>(decision->lr);
    f.gradient_scale = static_cast<C>(decision->gradient_scale);
  }
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

/// The weight is read where a place for it is given.
template <class T, int kCount>
__global__ void lerp_kernel(const T* __restrict__ from, double given, const double* read,
                            std::int64_t size, T* __restrict__ into) {
  const auto weight = static_cast<Compute<T>>(read != nullptr ? *read : given);
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

/// Calls f(first, end, piecewise) for elements [first, end) that cover [0, size): once for up to
/// kMostRanges ranges.
template <class F>
void for_each_piecewise(std::span<const DecayRange> decay, std::int64_t size, const F& f) {
  constexpr std::int64_t kUnit = 16;  // the next launch begins at a whole pack again
  for (std::int64_t first = 0; first < size;) {
    Piecewise piecewise;
    std::size_t taken = 0;
    for (; taken < decay.size() && piecewise.count < kMostRanges; ++taken) {
      const DecayRange& range = decay[taken];
      if (range.begin == range.end) continue;
      piecewise.begin[piecewise.count] = range.begin;
      piecewise.end[piecewise.count] = range.end;
      piecewise.values[piecewise.count++] = range.decay;
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

template <class Step>
const StepDecision* decision_of(const Step& step) {
  return step.decision.defined() ? decision_in(step.decision) : nullptr;
}

void lerp_from(const Stream& stream, const TensorView& from_view, double given, const double* read,
               const TensorView& into_view) {
  check_lengths("lerp", into_view, {&from_view});
  visit_floating(into_view.dtype, [&]<class T>() {
    const T* from = from_view.as<T>();
    T* into = into_view.as<T>();
    const auto run = [&]<int kCount>() {
      launch(lerp_kernel<T, kCount>, pack_threads(into_view.numel(), kCount), stream, from, given,
             read, into_view.numel(), into);
    };
    visit_alignment<T>(run, from, into);
  });
}

}  // namespace

void adam(const Stream& stream, const AdamStep& step, std::span<const DecayRange> decay,
          const TensorView& gradients, const TensorView& parameters, const TensorView& m,
          const TensorView& v) {
  check_lengths("adam", parameters, {&gradients, &m, &v});
  check_ranges("adam", decay, parameters.numel());
  visit_floating(parameters.dtype, [&]<class T>() {
    const AdamFactors<Compute<T>> factors(step);
    const T* g = gradients.as<T>();
    T *p = parameters.as<T>(), *first_moment = m.as<T>(), *second_moment = v.as<T>();
    const auto run = [&]<int kCount>() {
      for_each_piecewise(decay, parameters.numel(),
                         [&](std::int64_t first, std::int64_t end, const Piecewise& piecewise) {
                           launch(adam_kernel<T, kCount>, pack_threads(end - first, kCount), stream,
                                  factors, step.lr, decision_of(step), step.decoupled_decay,
                                  piecewise, first, end, g, p, first_moment, second_moment);
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
      for_each_piecewise(decay, parameters.numel(),
                         [&](std::int64_t first, std::int64_t end, const Piecewise& piecewise) {
                           launch(sgd_kernel<T, kCount>, pack_threads(end - first, kCount), stream,
                                  factors, decision_of(step), piecewise, first, end, g, p, b);
                         });
    };
    visit_alignment<T>(run, g, p, b);
  });
}

void lerp(const Stream& stream, const TensorView& from, double weight, const TensorView& into) {
  lerp_from(stream, from, weight, nullptr, into);
}

void lerp_by(const Stream& stream, const TensorView& from, const TensorView& weight,
             const TensorView& into) {
  lerp_from(stream, from, 0, number_in(weight), into);
}

}  // namespace moiety::kernels::cuda

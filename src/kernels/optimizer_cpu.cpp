// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "kernels/cpu_loops.h"
#include "kernels/optimizer_step.h"
#include "kernels/optional_view.h"
#include "tensor/storage.h"

namespace moiety::kernels::cpu {
namespace {

/// Calls f(begin, end, decay) for pieces of [begin, end) with one factor each, in order.
template <class F>
void for_each_piece(std::int64_t begin, std::int64_t end, std::span<const DecayRange> decay,
                    const F& f) {
  for (const DecayRange& range : decay) {
    if (begin >= end || range.begin >= end) break;
    if (range.end <= begin) continue;
    if (begin < range.begin) f(begin, range.begin, 0.0);
    const std::int64_t stop = std::min(end, range.end);
    f(std::max(begin, range.begin), stop, range.decay);
    begin = stop;
  }
  if (begin < end) f(begin, end, 0.0);
}

/// `coupled` is added to the gradient times the parameter; `keep` multiplies the parameter.
template <class T>
void adam_piece(const AdamFactors<T> f, T coupled, T keep, std::int64_t n, const T* g, T* p, T* m,
                T* v) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T grad = g[i] * f.gradient_scale + coupled * p[i];
    const T first = f.beta1 * m[i] + f.one_minus_beta1 * grad;
    const T second = f.beta2 * v[i] + f.one_minus_beta2 * grad * grad;
    m[i] = first;
    v[i] = second;
    p[i] = keep * p[i] - f.rate * first / (std::sqrt(second) * f.root_correction + f.eps);
  }
}

template <class T>
void sgd_piece(const SgdStep& step, T decay, std::int64_t n, const T* g, T* p, T* velocity) {
  const auto lr = static_cast<T>(step.lr);
  const auto scale = static_cast<T>(step.gradient_scale);
  if (velocity == nullptr) {
    for (std::int64_t i = 0; i < n; ++i) p[i] -= lr * (g[i] * scale + decay * p[i]);
    return;
  }
  const auto momentum = static_cast<T>(step.momentum);
  const T own = step.nesterov ? T{1} : T{0};  // p -= lr (own g + along b)
  const T along = step.nesterov ? momentum : T{1};
  for (std::int64_t i = 0; i < n; ++i) {
    const T grad = g[i] * scale + decay * p[i];
    const T b = momentum * velocity[i] + grad;
    velocity[i] = b;
    p[i] -= lr * (own * grad + along * b);
  }
}

/// Sum of squares of one chunk, in 16 interleaved partial sums.
template <class T>
double chunk_squared_norm(const T* x, std::int64_t n) {
  constexpr std::int64_t kSums = 16;
  std::array<double, kSums> sum{};
  const std::int64_t whole = n / kSums * kSums;
  for (std::int64_t i = 0; i < whole; i += kSums) {
    for (std::int64_t s = 0; s < kSums; ++s) {
      const auto value = static_cast<double>(x[i + s]);
      sum[static_cast<std::size_t>(s)] += value * value;
    }
  }
  double total = 0;
  for (double s : sum) total += s;
  for (std::int64_t i = whole; i < n; ++i) {
    total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return total;
}

}  // namespace

void adam(const Stream& stream, const AdamStep& step, std::span<const DecayRange> decay,
          const TensorView& gradients, const TensorView& parameters, const TensorView& m,
          const TensorView& v) {
  check_lengths("adam", parameters, {&gradients, &m, &v});
  check_ranges("adam", decay, parameters.numel());
  const StepDecision* decision = step.decision.defined() ? decision_in(step.decision) : nullptr;
  if (decision != nullptr && decision->usable == 0) return;
  const double lr = decision != nullptr ? decision->lr : step.lr;
  visit_float(parameters.dtype, [&]<class T>() {
    AdamFactors<T> factors(step);
    if (decision != nullptr) factors.follow(*decision);
    const T* g = gradients.as<T>();
    T *p = parameters.as<T>(), *first = m.as<T>(), *second = v.as<T>();
    const auto update = [&](std::int64_t begin, std::int64_t end, double factor) {
      const T coupled = static_cast<T>(step.decoupled_decay ? 0.0 : factor);
      const T keep = static_cast<T>(step.decoupled_decay ? 1 - lr * factor : 1.0);
      adam_piece(factors, coupled, keep, end - begin, g + begin, p + begin, first + begin,
                 second + begin);
    };
    parallel_for(stream, parameters.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for_each_piece(begin, end, decay, update);
    });
  });
}

void sgd(const Stream& stream, const SgdStep& given, std::span<const DecayRange> decay,
         const TensorView& gradients, const TensorView& parameters, const TensorView& velocity) {
  check_lengths("sgd", parameters, {&gradients});
  if (velocity.defined()) check_lengths("sgd", parameters, {&velocity});
  check(velocity.defined() || given.momentum == 0, "sgd: momentum ", given.momentum,
        " needs a velocity array");
  check_ranges("sgd", decay, parameters.numel());
  SgdStep step = given;
  if (given.decision.defined()) {
    const StepDecision& decision = *decision_in(given.decision);
    if (decision.usable == 0) return;
    step.lr = decision.lr;
    step.gradient_scale = decision.gradient_scale;
  }
  visit_float(parameters.dtype, [&]<class T>() {
    const T* g = gradients.as<T>();
    T* p = parameters.as<T>();
    T* b = data_or_null<T>(velocity);
    const auto update = [&](std::int64_t begin, std::int64_t end, double factor) {
      sgd_piece(step, static_cast<T>(factor), end - begin, g + begin, p + begin,
                b == nullptr ? nullptr : b + begin);
    };
    parallel_for(stream, parameters.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for_each_piece(begin, end, decay, update);
    });
  });
}

void squared_norm_into(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.contiguous() && out.numel() == 1);
  const std::int64_t n = x.numel();
  const std::int64_t chunks = (n + kGrain - 1) / kGrain;
  const Storage scratch(stream.device(), static_cast<std::size_t>(chunks) * sizeof(double));
  auto* partial = reinterpret_cast<double*>(scratch.data());
  visit_float(x.dtype, [&]<class T>() {
    const T* values = x.as<T>();
    parallel_for(stream, n, kGrain, [=](std::int64_t begin, std::int64_t end) {
      partial[begin / kGrain] = chunk_squared_norm(values + begin, end - begin);
    });
  });
  double total = 0;
  for (std::int64_t c = 0; c < chunks; ++c) total += partial[c];
  *out.as<double>() = total;
}

void begin_step(const Stream&, const StepRule& rule, const TensorView& lr,
                const TensorView& decision) {
  decide(rule, *number_in(lr), *decision_in(decision));
}

void add_loss(const Stream&, const TensorView& loss, const TensorView& scale, bool first,
              const TensorView& decision) {
  MOIETY_CHECK(loss.numel() == 1 && scale.numel() == 1, "add_loss: ", loss.shape);
  StepDecision& step = *decision_in(decision);
  visit_float(loss.dtype, [&]<class T>() {
    const auto value = static_cast<double>(*loss.as<T>()) * static_cast<double>(*scale.as<T>());
    step.loss = first ? value : step.loss + value;
  });
}

void loss_seed(const Stream&, const TensorView& scale, const TensorView& decision,
               const TensorView& seed) {
  const double loss_scale = loss_scale_of(*decision_in(decision));
  visit_float(seed.dtype, [&]<class T>() {
    *seed.as<T>() = static_cast<T>(static_cast<double>(*scale.as<T>()) * loss_scale);
  });
}

void lerp(const Stream& stream, const TensorView& from_view, double weight,
          const TensorView& into_view) {
  check_lengths("lerp", into_view, {&from_view});
  visit_float(into_view.dtype, [&]<class T>() {
    const T* from = from_view.as<T>();
    T* into = into_view.as<T>();
    const auto w = static_cast<T>(weight);
    parallel_for(stream, into_view.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) into[i] += w * (from[i] - into[i]);
    });
  });
}

void lerp_by(const Stream& stream, const TensorView& from, const TensorView& weight,
             const TensorView& into) {
  lerp(stream, from, *number_in(weight), into);
}

}  // namespace moiety::kernels::cpu

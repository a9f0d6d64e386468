// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_reduce.h"
#include "kernels/loss.h"

namespace moiety::kernels::cpu {
namespace {

/// Calls f.operator()<T, U>() with the types of prediction and target.
template <class F>
void visit_pair(const TensorView& prediction, const TensorView& target, const F& f) {
  MOIETY_CHECK(prediction.shape == target.shape && prediction.contiguous() && target.contiguous(),
               "regression_loss: ", prediction.shape, " and ", target.shape);
  visit_float(prediction.dtype, [&]<class T> {
    visit_float(target.dtype, [&]<class U> { f.template operator()<T, U>(); });
  });
}

double value(const RegressionLoss& loss, double p, double t) {
  if (loss.loss == Loss::bce) {  // log(1 + e^p) without overflow
    return std::fmax(p, 0.0) - p * t + std::log1p(std::exp(-std::fabs(p)));
  }
  const double d = p - t;
  const double a = std::fabs(d);
  if (loss.loss == Loss::mae) return a;
  if (loss.loss == Loss::mse) return d * d;
  return a <= loss.delta ? 0.5 * d * d : loss.delta * (a - 0.5 * loss.delta);
}

double derivative(const RegressionLoss& loss, double p, double t) {
  if (loss.loss == Loss::bce) return 1 / (1 + std::exp(-p)) - t;
  const double d = p - t;
  if (loss.loss == Loss::mse) return 2 * d;
  if (loss.loss == Loss::mae) return (d > 0) - (d < 0);
  return d > loss.delta ? loss.delta : d < -loss.delta ? -loss.delta : d;
}

}  // namespace

void regression_loss(const Stream& stream, const RegressionLoss& loss, const TensorView& prediction,
                     const TensorView& target, const TensorView& out) {
  MOIETY_CHECK(out.numel() == 1 && out.dtype == prediction.dtype, "regression_loss: ", out.shape);
  visit_pair(prediction, target, [&]<class T, class U> {
    const T* p = prediction.as<T>();
    const U* t = target.as<U>();
    const auto reduce = [&](std::int64_t begin, std::int64_t end, double* total) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (!std::isnan(t[i])) *total += value(loss, p[i], t[i]);
      }
    };
    reduce_rows(stream, prediction.numel(), 1, 1, reduce, [&](std::int64_t, double total) {
      *out.as<T>() = static_cast<T>(loss.scale * total);
    });
  });
}

void regression_loss_grad(const Stream& stream, const RegressionLoss& loss,
                          const TensorView& prediction, const TensorView& target,
                          const TensorView& grad, const TensorView& dprediction) {
  MOIETY_CHECK(grad.numel() == 1 && dprediction.shape == prediction.shape,
               "regression_loss_grad: ", grad.shape, " and ", dprediction.shape);
  visit_pair(prediction, target, [&]<class T, class U> {
    const T* p = prediction.as<T>();
    const U* t = target.as<U>();
    T* to = dprediction.as<T>();
    const double scale = loss.scale * static_cast<double>(*grad.as<T>());
    parallel_for(stream, prediction.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        to[i] = std::isnan(t[i]) ? T(0) : static_cast<T>(scale * derivative(loss, p[i], t[i]));
      }
    });
  });
}

void split_missing(const Stream& stream, const TensorView& target, const TensorView& filled,
                   const TensorView& present) {
  MOIETY_CHECK(present.shape == filled.shape, "split_missing: ", filled.shape);
  visit_pair(filled, target, [&]<class T, class U> {
    const U* t = target.as<U>();
    T* value_of = filled.as<T>();
    T* mask = present.as<T>();
    parallel_for(stream, target.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const bool missing = std::isnan(t[i]);
        value_of[i] = missing ? T(0) : static_cast<T>(t[i]);
        mask[i] = missing ? T(0) : T(1);
      }
    });
  });
}

}  // namespace moiety::kernels::cpu

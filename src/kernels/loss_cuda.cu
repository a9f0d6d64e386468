// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/loss.h"

namespace moiety::kernels::cuda {
namespace {

/// Calls f.operator()<T, U>() with the types of prediction and target.
template <class F>
void visit_pair(const TensorView& prediction, const TensorView& target, const F& f) {
  MOIETY_CHECK(prediction.shape == target.shape && prediction.contiguous() && target.contiguous(),
               "regression_loss: ", prediction.shape, " and ", target.shape);
  visit_floating(prediction.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, float>) {
      if (target.dtype == DType::f32) return f.template operator()<T, float>();
    }
    f.template operator()<T, T>();
  });
}

__device__ double loss_of(const RegressionLoss& loss, double p, double t) {
  if (loss.loss == Loss::bce) {  // log(1 + e^p) without overflow
    return std::fmax(p, 0.0) - p * t + std::log1p(std::exp(-std::fabs(p)));
  }
  const double d = p - t;
  const double a = std::fabs(d);
  if (loss.loss == Loss::mae) return a;
  if (loss.loss == Loss::mse) return d * d;
  return a <= loss.delta ? 0.5 * d * d : loss.delta * (a - 0.5 * loss.delta);
}

__device__ double derivative(const RegressionLoss& loss, double p, double t) {
  if (loss.loss == Loss::bce) return 1 / (1 + std::exp(-p)) - t;
  const double d = p - t;
  if (loss.loss == Loss::mse) return 2 * d;
  if (loss.loss == Loss::mae) return (d > 0) - (d < 0);
  return d > loss.delta ? loss.delta : d < -loss.delta ? -loss.delta : d;
}

/// In f64 throughout: losses have few elements.
template <class T, class U>
struct LossSum : SumReducer<double, 1> {
  RegressionLoss loss;
  const T* prediction;
  const U* target;
  T* out;

  __device__ void take(Running& running, std::int64_t u, std::int64_t) const {
    const double t = widen(target[u]);
    if (t == t) running.run[0] += loss_of(loss, widen(prediction[u]), t);
  }
  __device__ void finish(const Value& total, std::int64_t) const {
    *out = narrow<T>(static_cast<Compute<T>>(loss.scale * total.v[0]));
  }
};

constexpr int kBlock = 256;

/// The first element of this thread, and how many threads there are.
__device__ std::int64_t first_element() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t thread_count() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class T, class U>
__global__ void regression_loss_grad_kernel(const RegressionLoss loss, std::int64_t n,
                                            const T* __restrict__ prediction,
                                            const U* __restrict__ target,
                                            const T* __restrict__ grad,
                                            T* __restrict__ dprediction) {
  const double scale = loss.scale * static_cast<double>(widen(*grad));
  for (std::int64_t i = first_element(); i < n; i += thread_count()) {
    const double t = widen(target[i]);
    const double slope = t == t ? scale * derivative(loss, widen(prediction[i]), t) : 0.0;
    dprediction[i] = narrow<T>(static_cast<Compute<T>>(slope));
  }
}

template <class T, class U>
__global__ void split_missing_kernel(std::int64_t n, const U* __restrict__ target,
                                     T* __restrict__ filled, T* __restrict__ present) {
  for (std::int64_t i = first_element(); i < n; i += thread_count()) {
    const auto t = widen(target[i]);
    filled[i] = narrow<T>(t == t ? static_cast<Compute<T>>(t) : Compute<T>{0});
    present[i] = narrow<T>(t == t ? Compute<T>{1} : Compute<T>{0});
  }
}

}  // namespace

void regression_loss(const Stream& stream, const RegressionLoss& loss, const TensorView& prediction,
                     const TensorView& target, const TensorView& out) {
  MOIETY_CHECK(out.numel() == 1 && out.dtype == prediction.dtype, "regression_loss: ", out.shape);
  visit_pair(prediction, target, [&]<class T, class U>() {
    const LossSum<T, U> reducer{{}, loss, prediction.as<T>(), target.as<U>(), out.as<T>()};
    reduce_middle(stream, reducer, 1, prediction.numel(), 1, sizeof(T));
  });
}

void regression_loss_grad(const Stream& stream, const RegressionLoss& loss,
                          const TensorView& prediction, const TensorView& target,
                          const TensorView& grad, const TensorView& dprediction) {
  MOIETY_CHECK(grad.numel() == 1 && dprediction.shape == prediction.shape,
               "regression_loss_grad: ", grad.shape, " and ", dprediction.shape);
  const std::int64_t n = prediction.numel();
  visit_pair(prediction, target, [&]<class T, class U>() {
    launch(regression_loss_grad_kernel<T, U>, Threads(dim3(blocks_for(n, kBlock)), dim3(kBlock)),
           stream, loss, n, prediction.as<T>(), target.as<U>(), grad.as<T>(), dprediction.as<T>());
  });
}

void split_missing(const Stream& stream, const TensorView& target, const TensorView& filled,
                   const TensorView& present) {
  MOIETY_CHECK(present.shape == filled.shape, "split_missing: ", filled.shape);
  const std::int64_t n = target.numel();
  visit_pair(filled, target, [&]<class T, class U>() {
    launch(split_missing_kernel<T, U>, Threads(dim3(blocks_for(n, kBlock)), dim3(kBlock)), stream,
           n, target.as<U>(), filled.as<T>(), present.as<T>());
  });
}

}  // namespace moiety::kernels::cuda

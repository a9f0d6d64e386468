// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/element.cuh"
#include "kernels/norm.h"

// What follows a norm in the same pass, forwards and backwards. For .cu files alone.
namespace moiety::kernels::cuda {

/// NormTail with pointers.
template <class T>
struct Tail {
  bool relu;
  const T* residual;  ///< nullptr: none

  /// z = added + relu(z), without what is absent; `added` was read from the residual.
  template <int kCount>
  __device__ void apply(Pack<T, kCount>& z, const Pack<T, kCount>& added) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (relu && z.v[i] < 0) z.v[i] = 0;  // NaN stays
      if (residual != nullptr) z.v[i] += added.v[i];
    }
  }
};

template <class T>
Tail<T> tail_of(const NormTail& tail) {
  return {tail.relu, tail.residual.defined() ? tail.residual.as<T>() : nullptr};
}

/// Where a gradient passes the ReLU behind a norm, for kCount columns.
template <class T, int kCount>
struct Gate {
  using F = Compute<T>;

  /// `relu_bias` is the norm's bias from the first of these columns, nullptr where no ReLU follows.
  __device__ void load(const T* relu_bias) {
    exists = relu_bias != nullptr;
    bias.fill(0);
    if (exists) bias.load(relu_bias);
  }
  /// The gradient in column i, where `scaled` + bias is what the norm gave.
  __device__ F pass(int i, F scaled, F grad) const {
    return exists && scaled + bias.v[i] <= 0 ? F{0} : grad;
  }

  Pack<T, kCount> bias;
  bool exists;
};

}  // namespace moiety::kernels::cuda

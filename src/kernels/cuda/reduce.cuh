// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/simt.cuh"

// Reductions among the threads of a warp or block, in an order that the number of threads fixes, so
// that a result has the same bits every run. For .cu files alone.
namespace moiety::kernels::cuda {

struct Sum {
  template <class T>
  __device__ static T identity() {
    return T{0};
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// NaN counts as largest.
struct Max {
  template <class T>
  __device__ static T identity() {
    return static_cast<T>(-INFINITY);
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};

/// Every lane of a team of kTeam (a power of two) gets the team's result. All lanes of the warp
/// take part.
template <int kTeam = kWarp, class T, class Op>
__device__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int distance = kTeam / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

/// Every thread of a one-dimensional block of a multiple of 32 threads gets the block's result.
/// `scratch` [32] is shared memory; a barrier comes first, so that it may be used again at once.
template <class T, class Op>
__device__ T block_reduce(T value, Op op, T* scratch) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  value = warp_reduce(value, op);
  __syncthreads();
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  return warp_reduce(lane < warps ? scratch[lane] : Op::template identity<T>(), op);
}

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/rows.cuh"
#include "tensor/storage.h"

// Sums that several teams or blocks have parts of, added in an order that the shape fixes. For .cu
// files alone.
namespace moiety::kernels::cuda {

/// Team 0 of a block of kRowBlock threads gets the sum over its teams, a power of two of them.
/// `scratch` is shared memory; all threads of the block take part.
template <class T, int kCount>
__device__ void add_teams(Pack<T, kCount>& sum, Compute<T>* scratch) {
  // Element by element, so that neighbouring threads use neighbouring banks.
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#pragma unroll
  for (int i = 0; i < kCount; ++i) scratch[i * kRowBlock + thread] = sum.v[i];
  for (unsigned teams = blockDim.y / 2; teams > 0; teams /= 2) {
    __syncthreads();
    if (threadIdx.y < teams) {
      const int other = thread + static_cast<int>(teams * blockDim.x);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        sum.v[i] += scratch[i * kRowBlock + other];
        scratch[i * kRowBlock + thread] = sum.v[i];
      }
    }
  }
}

inline constexpr int kPartialTeams = 16;

/// out[i] = sum over p of partial[p, i]: a warp takes 32 neighbouring i, a team every
/// kPartialTeams-th p. partial [parts, length], out [length].
template <class T>
__global__ void add_partials_kernel(const Compute<T>* __restrict__ partial, std::int64_t parts,
                                    std::int64_t length, T* __restrict__ out) {
  MOIETY_SHARED(Compute<T>, sums, [kPartialTeams][kWarp]);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  Compute<T> sum = 0;
  if (i < length) {
    for (std::int64_t p = threadIdx.y; p < parts; p += kPartialTeams) {
      sum += partial[p * length + i];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || i >= length) return;
  for (int team = 1; team < kPartialTeams; ++team) sum += sums[team][threadIdx.x];
  out[i] = narrow<T>(sum);
}

/// Memory for the parts [parts, length] of a sum that goes to `out` [length]: `out` itself where
/// there is one part of its type. Lives until the work that add() queues is queued.
template <class T>
class Partials {
 public:
  Partials(const Stream& stream, std::int64_t parts, std::int64_t length, T* out)
      : stream_(stream),
        parts_(parts),
        length_(length),
        out_(out),
        scratch_(stream.device(),
                 in_place() ? 0 : static_cast<std::size_t>(parts * length) * sizeof(Compute<T>)) {}

  Compute<T>* data() const {
    if constexpr (std::is_same_v<T, Compute<T>>) {
      if (in_place()) return out_;
    }
    return reinterpret_cast<Compute<T>*>(scratch_.data());
  }
  void add() const {
    if (in_place()) return;
    const auto blocks = static_cast<unsigned>((length_ + kWarp - 1) / kWarp);
    launch(add_partials_kernel<T>, Threads(dim3(blocks), dim3(kWarp, kPartialTeams)), stream_,
           data(), parts_, length_, out_);
  }

 private:
  bool in_place() const { return parts_ == 1 && std::is_same_v<T, Compute<T>>; }

  const Stream& stream_;
  std::int64_t parts_;
  std::int64_t length_;
  T* out_;
  Storage scratch_;
};

}  // namespace moiety::kernels::cuda

// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels.h"

namespace simt_test {
namespace {

constexpr unsigned kFull = 0xffffffffu;
constexpr unsigned kThreads = 64;

__global__ void barrier_kernel(bool before_read, bool before_reuse, float* data) {
  MOIETY_SHARED(float, tile, [kThreads]);
  const unsigned i = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    tile[i] = data[i];
    if (before_read) __syncthreads();
    data[i] = tile[i ^ 32];
    if (before_reuse) __syncthreads();
  }
}

__global__ void warp_kernel(bool synchronised, float* data) {
  MOIETY_SHARED(float, tile, [kThreads]);
  const unsigned i = threadIdx.x;
  tile[i] = data[i];
  if (synchronised) __syncwarp();
  data[i] = tile[i ^ 1];
}

__global__ void shared_kernel(int read_from, int read_to, bool write, float* data) {
  MOIETY_SHARED(float, tile, [8]);
  const unsigned i = threadIdx.x;
  if (write && i < 8) tile[i] = 1.0f;
  __syncthreads();
  if (i == 0) {
    for (int k = read_from; k < read_to; ++k) data[0] += tile[k];
  }
}

__global__ void divergent_barrier_kernel(float* data) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    data[0] = 0.0f;
    __syncthreads();
  }
}

__global__ void divergent_shuffle_kernel(float* data) {
  float value = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 2 == 0) {
    value = __shfl_xor_sync(kFull, value, 2);
  } else {
    value = __shfl_xor_sync(kFull, value, 4);
  }
  data[threadIdx.x] = value;
}

__global__ void mask_kernel(unsigned mask, int source, float* data) {
  if (threadIdx.x >= 16) {
    __syncwarp(0xffff0000u);
    return;
  }
  data[threadIdx.x] = __shfl_sync(mask, 1.0f, source);
}

__global__ void deadlock_kernel(float* data) {
  if (threadIdx.x == 5) return;
  if (threadIdx.x < 32) {
    data[threadIdx.x] = __any_sync(kFull, threadIdx.x == 3) ? 1.0f : 0.0f;
    if (threadIdx.x != 7) __syncwarp();
  }
  __syncthreads();
}

__global__ void named_barrier_kernel() {
  if (threadIdx.x < 32) simt::barrier_sync(3, 64);
}

__global__ void livelock_kernel(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}

__global__ void copy_kernel(bool waits, int misalignment, const float* data, float* out) {
  MOIETY_SHARED(float4, stage, [kThreads]);
  const unsigned i = threadIdx.x;
  simt::cp_async<16>(&stage[i], data + 4 * i + misalignment);
  simt::cp_async_commit();
  if (waits) simt::cp_async_wait<0>();
  __syncthreads();
  out[i] = stage[i ^ 1].x;
}

__global__ void misaligned_kernel(const unsigned char* data, int* out) {
  *out = *reinterpret_cast<const int*>(data + 2);
}

__global__ void trap_kernel() {
  if (threadIdx.x == 9) __trap();
}

__global__ void read_kernel(const float* data, int first, int end, float* out) {
  float sum = 0.0f;
  for (int i = first; i < end; ++i) sum += data[i];
  *out = sum;
}

__global__ void between_blocks_kernel(float* data) { data[0] = static_cast<float>(blockIdx.x); }

__global__ void atomic_kernel(float* data) {
  if (threadIdx.x == 0) {
    data[0] += 1.0f;
  } else {
    atomicAdd(data, 1.0f);
  }
}

}  // namespace

cudaError_t commit_fault(Fault fault, float* data, int count, cudaStream_t stream) {
  const auto launch = [stream](auto* kernel, unsigned blocks, unsigned threads, auto... arguments) {
    return simt::launch(kernel, blocks, threads, 0, stream, arguments...);
  };
  switch (fault) {
    case Fault::missing_barrier:
      return launch(barrier_kernel, 1, kThreads, false, true, data);
    case Fault::missing_barrier_before_reuse:
      return launch(barrier_kernel, 1, kThreads, true, false, data);
    case Fault::missing_warp_sync:
      return launch(warp_kernel, 1, kThreads, false, data);
    case Fault::shared_overrun:
      return launch(shared_kernel, 1, kThreads, 0, 9, true, data);
    case Fault::uninitialised_shared:
      return launch(shared_kernel, 1, kThreads, 0, 8, false, data);
    case Fault::divergent_barrier:
      return launch(divergent_barrier_kernel, 1, kThreads, data);
    case Fault::divergent_shuffle:
      return launch(divergent_shuffle_kernel, 1, 32, data);
    case Fault::wrong_mask:
      return launch(mask_kernel, 1, 32, 0x00ff00ffu, 0, data);
    case Fault::shuffle_from_outside:
      return launch(mask_kernel, 1, 32, 0x0000ffffu, 20, data);
    case Fault::deadlock:
      return launch(deadlock_kernel, 1, kThreads, data);
    case Fault::named_barrier_short:
      return launch(named_barrier_kernel, 1, kThreads);
    case Fault::livelock:
      return launch(livelock_kernel, 1, 2, reinterpret_cast<int*>(data));
    case Fault::missing_copy_wait:
      return launch(copy_kernel, 1, kThreads, false, 0, data, data + 4 * kThreads);
    case Fault::misaligned_copy:
      return launch(copy_kernel, 1, kThreads, true, 1, data, data + 4 * kThreads);
    case Fault::misaligned_load:
      return launch(misaligned_kernel, 1, 1, reinterpret_cast<const unsigned char*>(data),
                    reinterpret_cast<int*>(data) + 4);
    case Fault::trap:
      return launch(trap_kernel, 1, kThreads);
    case Fault::global_overrun:
      return launch(read_kernel, 1, 1, data, 1, count + 1, data);
    case Fault::global_underrun:
      return launch(read_kernel, 1, 1, data, -1, count, data);
    case Fault::read_all:
      return launch(read_kernel, 1, 1, data, 0, count, data);
    case Fault::race_between_blocks:
      return launch(between_blocks_kernel, 2, 1, data);
    case Fault::atomic_against_plain:
      return launch(atomic_kernel, 1, 2, data);
  }
  return cudaErrorInvalidValue;
}

cudaError_t commit_no_fault(float* data, int count) {
  cudaError_t status = simt::launch(barrier_kernel, 1, kThreads, 0, nullptr, true, true, data);
  if (status != cudaSuccess) return status;
  status = simt::launch(warp_kernel, 1, kThreads, 0, nullptr, true, data);
  if (status != cudaSuccess) return status;
  status = simt::launch(shared_kernel, 1, kThreads, 0, nullptr, 0, 8, true, data);
  if (status != cudaSuccess) return status;
  status = simt::launch(copy_kernel, 1, kThreads, 0, nullptr, true, 0, data, data + 4 * kThreads);
  if (status != cudaSuccess) return status;
  return simt::launch(read_kernel, 1, 1, 0, nullptr, data, 0, count, data);
}

}  // namespace simt_test

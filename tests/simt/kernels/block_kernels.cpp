// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels.h"

namespace simt_test {
namespace {

__global__ void fill_indices_kernel(int* out, int* visits) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * threads + thread;
  out[i] = static_cast<int>(i);
  atomicAdd(visits, 1);
}

__global__ void block_votes_kernel(const int* in, int* out) {
  const int predicate = in[threadIdx.x];
  const int count = __syncthreads_count(predicate);
  const int any = __syncthreads_or(predicate);
  const int all = __syncthreads_and(predicate);
  if (threadIdx.x == blockDim.x - 1) {
    out[0] = count;
    out[1] = any;
    out[2] = all;
  }
}

__global__ void reverse_blocks_kernel(int rounds, float* data) {
  MOIETY_SHARED(float, tile, [256]);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    tile[threadIdx.x] = data[i];
    __syncthreads();
    data[i] = tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}

__global__ void early_exit_kernel(int last, int* sum) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread > last) return;
  MOIETY_SHARED(int, numbers, [1024]);
  numbers[thread] = thread;
  __syncthreads();
  int total = 0;
  for (int i = 0; i <= last; ++i) total += numbers[i];
  __syncthreads();
  if (thread == last) *sum = total;
}

__global__ void produce_consume_kernel(int rounds, int* out) {
  constexpr int kFilled = 1;
  constexpr int kFree = 2;
  MOIETY_SHARED(int, buffer, [32]);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) simt::barrier_sync(kFree, 64);
      buffer[lane] = round * 100 + lane;
      simt::barrier_arrive(kFilled, 64);
    } else {
      simt::barrier_sync(kFilled, 64);
      out[round * 32 + lane] = buffer[31 - lane];
      if (round + 1 < rounds) simt::barrier_arrive(kFree, 64);
    }
  }
}

__global__ void last_block_sums_kernel(int* parts, unsigned* counter, int* sum) {
  parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  __threadfence();
  if (atomicAdd(counter, 1) != gridDim.x - 1) return;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
  *sum = total;
}

__global__ void spin_lock_kernel(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
  atomicAdd(counter, 1);
  for (int wait = 0; wait < 3; ++wait) __nanosleep(100);
  atomicExch(lock, 0);
}

__global__ void record_order_kernel(unsigned* position, int* order) {
  const unsigned turn = atomicAdd(position, 1);
  order[turn] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void inspect_shared_kernel(std::size_t dynamic_bytes, unsigned* out) {
  MOIETY_SHARED(unsigned, first, [5]);
  MOIETY_SHARED(double, second, );
  MOIETY_DYNAMIC_SHARED(dynamic);
  second = 1.0;
  out[0] = static_cast<unsigned>(sizeof(first));
  out[1] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&second) % alignof(double));
  out[2] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(dynamic) % 1024);
  for (std::size_t i = 0; i < dynamic_bytes; ++i) dynamic[i] = static_cast<unsigned char>(i);
  out[3] = dynamic_bytes == 0 ? 0 : dynamic[dynamic_bytes - 1];
}

unsigned unsigned_of(int number) { return static_cast<unsigned>(number); }

}  // namespace

cudaError_t fill_indices(dim3 grid, dim3 block, int* out, int* visits, cudaStream_t stream) {
  return simt::launch(fill_indices_kernel, grid, block, 0, stream, out, visits);
}
cudaError_t block_votes(int threads, const int* in, int* out) {
  return simt::launch(block_votes_kernel, 1, unsigned_of(threads), 0, nullptr, in, out);
}
cudaError_t reverse_blocks(int blocks, int threads, int rounds, float* data, cudaStream_t stream) {
  return simt::launch(reverse_blocks_kernel, unsigned_of(blocks), unsigned_of(threads), 0, stream,
                      rounds, data);
}
cudaError_t early_exit(int threads, int last, int* sum) {
  return simt::launch(early_exit_kernel, 1, unsigned_of(threads), 0, nullptr, last, sum);
}
cudaError_t produce_consume(int rounds, int* out) {
  return simt::launch(produce_consume_kernel, 1, 64, 0, nullptr, rounds, out);
}
cudaError_t last_block_sums(int blocks, int* parts, unsigned* counter, int* sum) {
  return simt::launch(last_block_sums_kernel, unsigned_of(blocks), 1, 0, nullptr, parts, counter,
                      sum);
}
cudaError_t spin_lock(int threads, int* lock, int* counter) {
  return simt::launch(spin_lock_kernel, 1, unsigned_of(threads), 0, nullptr, lock, counter);
}
cudaError_t record_order(int blocks, int threads, unsigned* position, int* order) {
  return simt::launch(record_order_kernel, unsigned_of(blocks), unsigned_of(threads), 0, nullptr,
                      position, order);
}
cudaError_t inspect_shared(std::size_t dynamic_bytes, unsigned* out) {
  return simt::launch(inspect_shared_kernel, 1, 1, dynamic_bytes, nullptr, dynamic_bytes, out);
}
cudaError_t allow_shared(int bytes) {
  return cudaFuncSetAttribute(inspect_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              bytes);
}

}  // namespace simt_test

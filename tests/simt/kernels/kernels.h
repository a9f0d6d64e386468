// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Launchers of the emulator's test kernels. All run on the default stream unless given one.

namespace simt_test {

enum class Shuffle { index, up, down, xor_lanes };
/// One warp: out[lane] = the shuffle of in[lane] with arguments[lane].
template <class T>
cudaError_t shuffle(Shuffle kind, const T* in, const int* arguments, T* out, int width);

struct Votes {
  unsigned ballot, active;
  int any, all;
  unsigned add, smallest, largest, bits_and, bits_or;
  int signed_add, signed_smallest;
};
/// One warp, of which the lanes of `mask` vote with in[lane] and the others do nothing.
cudaError_t vote(unsigned mask, const unsigned* in, Votes* out);

/// out[i] = i with i over the whole grid of three dimensions; counts each thread in `visits`.
cudaError_t fill_indices(dim3 grid, dim3 block, int* out, int* visits,
                         cudaStream_t stream = nullptr);
/// out[0], [1], [2] = count, or, and over the threads' predicates in[i] != 0.
cudaError_t block_votes(int threads, const int* in, int* out);
/// Reverses each block's part of `data` through shared memory, `rounds` times.
cudaError_t reverse_blocks(int blocks, int threads, int rounds, float* data,
                           cudaStream_t stream = nullptr);
/// Threads past `last` exit at once; the rest sum their numbers behind two barriers.
cudaError_t early_exit(int threads, int last, int* sum);
/// Warp 0 fills a buffer for warp 1, `rounds` times, through two named barriers.
cudaError_t produce_consume(int rounds, int* out);
/// Blocks write a number each; the last one to finish sums them.
cudaError_t last_block_sums(int blocks, int* parts, unsigned* counter, int* sum);
/// Threads take turns under a spin lock.
cudaError_t spin_lock(int threads, int* lock, int* counter);
/// Order in which the threads of one block, and the blocks, begin.
cudaError_t record_order(int blocks, int threads, unsigned* position, int* order);
/// out[0..3]: a static array's first word, its size, dynamic bytes, alignment of both.
cudaError_t inspect_shared(std::size_t dynamic_bytes, unsigned* out);
/// Allows more dynamic shared memory for inspect_shared().
cudaError_t allow_shared(int bytes);

enum class Product { bf16, f16, tf32 };
/// One warp: d[16][8] += a[16][k] b[k][8], with a and b as bits; k is 16, for tf32 8.
cudaError_t multiply(Product kind, const std::uint32_t* a, const std::uint32_t* b, float* d);
/// One warp: out[lane] = in[lane] rounded to tf32.
cudaError_t round_to_tf32(const float* in, std::uint32_t* out);
/// One warp: out[lane] = 2^in[lane], approximately.
cudaError_t approximate_exp2(const float* in, float* out);
/// One warp: loads in[32][8] to shared memory and from there `matrices` matrices to
/// out[lane][matrices].
cudaError_t load_matrices(int matrices, bool transposed, const std::uint16_t* in,
                          std::uint32_t* out);
/// One warp: copies of `bytes` a lane in two groups. early[lane]: the first word before any wait;
/// out: both groups' bytes after their waits.
cudaError_t copy_async(int bytes, int source_bytes, const std::uint8_t* in, std::uint32_t* early,
                       std::uint8_t* out);

enum class Atomic { add, subtract, smallest, largest, exchange, bits_and, bits_or, bits_xor, cas };
/// `threads` threads apply the operation with values[i] to *target; old[i] is what they got.
template <class T>
cudaError_t apply_atomic(Atomic kind, int threads, const T* values, T* target, T* old);

/// Kernels with a mistake each; `data` and `bytes` are for those of global memory.
enum class Fault {
  missing_barrier,
  missing_barrier_before_reuse,
  missing_warp_sync,
  shared_overrun,
  uninitialised_shared,
  divergent_barrier,
  divergent_shuffle,
  wrong_mask,
  shuffle_from_outside,
  deadlock,
  named_barrier_short,
  livelock,
  missing_copy_wait,
  misaligned_copy,
  misaligned_load,
  trap,
  global_overrun,
  global_underrun,
  read_all,  // a mistake where data is not `count` numbers of the GPU
  race_between_blocks,
  atomic_against_plain,
};
cudaError_t commit_fault(Fault fault, float* data, int count, cudaStream_t stream = nullptr);
/// The same work without the mistakes: nothing to find.
cudaError_t commit_no_fault(float* data, int count);

}  // namespace simt_test

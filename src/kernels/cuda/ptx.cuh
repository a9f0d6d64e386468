// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/simt.cuh"

// Instructions for which CUDA C++ has no function: the only inline assembly of the project, with
// the emulator's meaning of each where there is no GPU. The conformance test compares the two. For
// .cu files alone.
//
// Matrices of the warp's products are spread over its lanes as the PTX ISA says: of a product
// d [16, 8] += a [16, K] b [K, 8], lane l with g = l / 4 and t = l % 4 holds d[g + 8 (r / 2)][2 t +
// r % 2] in register r.
namespace moiety::kernels::cuda {

#if defined(MOIETY_SIMT_EMULATED)

using simt::cp_async;
using simt::cp_async_commit;
using simt::cp_async_wait;
using simt::cp_async_wait_all;
using simt::exp2_approx;
using simt::ldmatrix;
using simt::mma_bf16;
using simt::mma_f16;
using simt::mma_tf32;
using simt::to_tf32;

#else

/// d += a b with K = 16, a and b in pairs of bf16, the lower element in the lower half: register r
/// of a holds rows g + 8 (r % 2), columns 2 t + 8 (r / 2) onwards, register r of b rows 2 t + 8 r
/// onwards of column g.
__device__ inline void mma_bf16(float (&d)[4], const std::uint32_t (&a)[4],
                                const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The same of f16.
__device__ inline void mma_f16(float (&d)[4], const std::uint32_t (&a)[4],
                               const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The same with K = 8, of tf32: register r of a holds row g + 8 (r % 2), column t + 4 (r / 2),
/// register r of b row t + 4 r, column g.
__device__ inline void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The nearest tf32, ties away from zero.
__device__ inline std::uint32_t to_tf32(float value) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

/// 2^x within 2^-22 of it; what is too small for a normal number is 0.
__device__ inline float exp2_approx(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Loads 1, 2 or 4 matrices of 8 x 8 halves: lane 8 m + i gives the address of row i of matrix m in
/// shared memory, aligned to 16 bytes; lane 4 g + t receives in register m the elements from column
/// 2 t of row g, or, transposed, from row 2 t of column g.
template <int kMatrices, bool kTransposed = false>
__device__ void ldmatrix(std::uint32_t (&registers)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const unsigned address = shared_address(row);
  if constexpr (kMatrices == 1 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 2 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (!kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  }
}

/// Queues a copy of 4, 8 or 16 bytes from global to shared memory, both aligned to that many; what
/// lies behind the first `source_bytes` of them is filled with zeros.
template <int kBytes>
__device__ void cp_async(void* shared, const void* global, int source_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  const unsigned address = shared_address(shared);
  if constexpr (kBytes == 16) {  // past the first-level cache: it is read once
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(global),
                 "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
}

/// Closes the group of this thread's copies since the last one.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for all but the newest kGroups groups of this thread.
template <int kGroups>
__device__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

/// Waits for all copies of this thread.
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

#endif

}  // namespace moiety::kernels::cuda

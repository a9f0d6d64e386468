// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "kernels.h"

namespace simt_test {
namespace {

using namespace moiety::kernels::cuda;  // what is tested: the wrappers of instructions

/// Two halves of `matrix`, at `at` and `at + step`, in one register.
__device__ std::uint32_t pair(const std::uint32_t* matrix, int at, int step) {
  return matrix[at] | matrix[at + step] << 16;
}

__global__ void multiply_kernel(Product kind, const std::uint32_t* a, const std::uint32_t* b,
                                float* d) {
  const int g = static_cast<int>(threadIdx.x) / 4;
  const int t = static_cast<int>(threadIdx.x) % 4;
  std::uint32_t left[4];
  std::uint32_t right[2];
  if (kind == Product::tf32) {
    for (int r = 0; r < 4; ++r) left[r] = a[(g + r % 2 * 8) * 8 + t + r / 2 * 4];
    for (int r = 0; r < 2; ++r) right[r] = b[(t + r * 4) * 8 + g];
  } else {
    for (int r = 0; r < 4; ++r) left[r] = pair(a, (g + r % 2 * 8) * 16 + 2 * t + r / 2 * 8, 1);
    for (int r = 0; r < 2; ++r) right[r] = pair(b, (2 * t + r * 8) * 8 + g, 8);
  }
  float sums[4];
  for (int r = 0; r < 4; ++r) sums[r] = d[(g + r / 2 * 8) * 8 + 2 * t + r % 2];
  if (kind == Product::bf16) mma_bf16(sums, left, right);
  if (kind == Product::f16) mma_f16(sums, left, right);
  if (kind == Product::tf32) mma_tf32(sums, left, right);
  for (int r = 0; r < 4; ++r) d[(g + r / 2 * 8) * 8 + 2 * t + r % 2] = sums[r];
}

template <int kMatrices, bool kTransposed>
__global__ void load_matrices_kernel(const std::uint16_t* in, std::uint32_t* out) {
  MOIETY_SHARED(uint4, rows, [32]);
  const unsigned lane = threadIdx.x;
  rows[lane] = reinterpret_cast<const uint4*>(in)[lane];
  __syncthreads();
  std::uint32_t registers[kMatrices];
  // Lanes whose address does not count give one that would be refused.
  const void* row = lane < 8 * kMatrices ? &rows[lane] : nullptr;
  ldmatrix<kMatrices, kTransposed>(registers, row);
  for (int m = 0; m < kMatrices; ++m)
    out[lane * kMatrices + static_cast<unsigned>(m)] = registers[m];
}

template <int kMatrices>
cudaError_t load(bool transposed, const std::uint16_t* in, std::uint32_t* out) {
  return simt::launch(
      transposed ? load_matrices_kernel<kMatrices, true> : load_matrices_kernel<kMatrices, false>,
      1, 32, 0, nullptr, in, out);
}

template <int kBytes>
__global__ void copy_async_kernel(int source_bytes, const std::uint8_t* in, std::uint32_t* early,
                                  std::uint8_t* out) {
  MOIETY_SHARED(uint4, stages, [64]);
  const unsigned lane = threadIdx.x;
  auto* const first = reinterpret_cast<std::uint8_t*>(stages) + lane * kBytes;
  auto* const second = first + 32 * kBytes;
  cp_async<kBytes>(first, in + lane * kBytes, source_bytes);
  cp_async_commit();
  cp_async<kBytes>(second, in + (32 + lane) * kBytes, source_bytes);
  cp_async_commit();
  // The check build refuses to read what has not landed.
  if (early != nullptr) early[lane] = *reinterpret_cast<const std::uint32_t*>(first);
  cp_async_wait<1>();
  __syncthreads();
  const unsigned other = 31 - lane;
  for (unsigned i = 0; i < kBytes; ++i) {
    out[other * kBytes + i] = reinterpret_cast<std::uint8_t*>(stages)[other * kBytes + i];
  }
  cp_async_wait_all();
  for (unsigned i = 0; i < kBytes; ++i) out[(32 + lane) * kBytes + i] = second[i];
}

__global__ void round_to_tf32_kernel(const float* in, std::uint32_t* out) {
  out[threadIdx.x] = to_tf32(in[threadIdx.x]);
}

__global__ void exp2_kernel(const float* in, float* out) {
  out[threadIdx.x] = exp2_approx(in[threadIdx.x]);
}

}  // namespace

cudaError_t multiply(Product kind, const std::uint32_t* a, const std::uint32_t* b, float* d) {
  return simt::launch(multiply_kernel, 1, 32, 0, nullptr, kind, a, b, d);
}

cudaError_t round_to_tf32(const float* in, std::uint32_t* out) {
  return simt::launch(round_to_tf32_kernel, 1, 32, 0, nullptr, in, out);
}

cudaError_t approximate_exp2(const float* in, float* out) {
  return simt::launch(exp2_kernel, 1, 32, 0, nullptr, in, out);
}

cudaError_t load_matrices(int matrices, bool transposed, const std::uint16_t* in,
                          std::uint32_t* out) {
  if (matrices == 1) return load<1>(transposed, in, out);
  return matrices == 2 ? load<2>(transposed, in, out) : load<4>(transposed, in, out);
}

cudaError_t copy_async(int bytes, int source_bytes, const std::uint8_t* in, std::uint32_t* early,
                       std::uint8_t* out) {
  auto* const kernel = bytes == 4   ? copy_async_kernel<4>
                       : bytes == 8 ? copy_async_kernel<8>
                                    : copy_async_kernel<16>;
  return simt::launch(kernel, 1, 32, 0, nullptr, source_bytes, in, early, out);
}

}  // namespace simt_test

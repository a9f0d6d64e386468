// SPDX-License-Identifier: Apache-2.0
#include "element_kernels.h"
#include "kernels/cuda/element.cuh"
#include "kernels/device.h"

namespace simt_test {
namespace {

using namespace moiety;
using namespace moiety::kernels::cuda;

constexpr unsigned kBlock = 256;

__global__ void widen_kernel(float* from_bf16, float* from_f16) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const auto bits = static_cast<std::uint16_t>(i);
  from_bf16[i] = widen(BFloat16{bits});
  from_f16[i] = widen(Float16{bits});
}

__global__ void narrow_kernel(const float* in, std::uint16_t* bf16, std::uint16_t* f16) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  bf16[i] = narrow<BFloat16>(in[i]).bits;
  f16[i] = narrow<Float16>(in[i]).bits;
}

}  // namespace

cudaError_t widen_all_halves(float* from_bf16, float* from_f16) {
  return simt::launch(widen_kernel, 65536 / kBlock, kBlock, 0, nullptr, from_bf16, from_f16);
}

cudaError_t narrow_to_halves(int count, const float* in, std::uint16_t* bf16, std::uint16_t* f16) {
  return simt::launch(narrow_kernel, static_cast<unsigned>(count) / kBlock, kBlock, 0, nullptr, in,
                      bf16, f16);
}

}  // namespace simt_test

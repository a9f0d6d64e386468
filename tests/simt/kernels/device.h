// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the test kernels are written in. The emulator's tests run them on the emulated GPU; the
// conformance test compiles the same kernels for a real one, where CUDA's functions and the
// project's wrappers of instructions stand for the emulator's.
#include <cuda_runtime.h>

#include "kernels/cuda/ptx.cuh"

#if !defined(MOIETY_SIMT_EMULATED)
#include <array>
#include <concepts>
#include <tuple>

namespace simt {

// The types that CUDA's functions take, as the emulator's headers name them.
template <class T, class... Choices>
concept OneOf = (std::same_as<T, Choices> || ...);
template <class T>
concept Integer32 = OneOf<T, int, unsigned>;
template <class T>
concept AtomicBits = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicOrdered = OneOf<T, int, unsigned, long long, unsigned long long>;
template <class T>
concept AtomicExchanged = OneOf<T, int, unsigned, unsigned long long, float>;

/// Launches a kernel and waits for it.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, Arguments... arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  auto pointers = std::apply(
      [](auto&... value) { return std::array<void*, sizeof...(Parameters)>{&value...}; }, values);
  const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block,
                                              pointers.data(), shared_bytes, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

}  // namespace simt
#endif

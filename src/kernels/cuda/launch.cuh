// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>

#include "tensor/cuda/check.h"
#include "tensor/cuda/native.h"
#include "tensor/device.h"

// Host side of kernels; for .cu files alone.
namespace moiety::kernels::cuda {

/// The threads of a launch. Errors are reported for the line that makes it.
struct Threads {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  std::source_location where;

  Threads(dim3 grid_size, dim3 block_size, std::size_t shared = 0,
          const std::source_location& line = std::source_location::current())
      : grid(grid_size), block(block_size), shared_bytes(shared), where(line) {}
};

/// Blocks of `block` threads that cover n elements, a thread each; at most `most` blocks, whose
/// threads then stride over the rest.
inline unsigned blocks_for(std::int64_t n, int block, std::int64_t most = 1 << 20) {
  const std::int64_t blocks = (n + block - 1) / block;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

/// Queues a kernel on a stream; nothing for an empty grid. Throws CudaError naming the caller's
/// line when CUDA refuses the launch.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), const Threads& threads, const Stream& stream,
            const Args&... args) {
  if (threads.grid.x == 0 || threads.grid.y == 0 || threads.grid.z == 0) return;
  use_device(stream.device().index());
  const auto* entry = reinterpret_cast<const void*>(kernel);
  constexpr std::size_t kWithoutAsking = 48 * 1024;
  if (threads.shared_bytes > kWithoutAsking) {
    cuda_check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(threads.shared_bytes)),
               threads.where);
  }
#if defined(MOIETY_SIMT_EMULATED)
  cuda_check(simt::launch(kernel, threads.grid, threads.block, threads.shared_bytes, native(stream),
                          static_cast<Params>(args)...),
             threads.where);
#else
  std::tuple<Params...> values(static_cast<Params>(args)...);
  auto pointers = std::apply(
      [](auto&... value) { return std::array<void*, sizeof...(Params)>{&value...}; }, values);
  cuda_check(cudaLaunchKernel(entry, threads.grid, threads.block, pointers.data(),
                              threads.shared_bytes, native(stream)),
             threads.where);
#endif
}

}  // namespace moiety::kernels::cuda

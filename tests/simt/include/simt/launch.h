// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace simt {

/// A kernel with its arguments.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Runs the calling CUDA thread from its beginning to its end.
  virtual void run_thread() const = 0;
  virtual const void* function() const = 0;
  /// Size of this object: kernels may read their arguments.
  virtual std::size_t bytes() const = 0;
};

template <class... Parameters>
class BoundKernel final : public Kernel {
 public:
  using Function = void (*)(Parameters...);

  template <class... Arguments>
  explicit BoundKernel(Function kernel, Arguments&&... arguments)
      : function_(kernel), arguments_(std::forward<Arguments>(arguments)...) {}

  void run_thread() const override { std::apply(function_, arguments_); }
  const void* function() const override { return reinterpret_cast<const void*>(function_); }
  std::size_t bytes() const override { return sizeof(*this); }

 private:
  Function function_;
  std::tuple<Parameters...> arguments_;
};

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
};

/// Runs the kernel, or adds it to the graph that the stream captures.
cudaError_t submit(std::unique_ptr<const Kernel> kernel, const Configuration& configuration,
                   cudaStream_t stream);

/// kernel<<<grid, block, dynamic_shared_bytes, stream>>>(arguments...) and what cudaGetLastError()
/// says of it. Where the kernel breaks a rule this is cudaErrorLaunchFailure, and
/// cudaGetErrorString() tells which, where and by whom.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   std::size_t dynamic_shared_bytes, cudaStream_t stream,
                   Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  static_assert((std::is_trivially_copyable_v<Parameters> && ...));
  return submit(std::make_unique<BoundKernel<Parameters...>>(
                    kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...),
                {grid, block, dynamic_shared_bytes}, stream);
}

}  // namespace simt

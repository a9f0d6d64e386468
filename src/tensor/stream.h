// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tensor/error.h"
#include "tensor/thread_pool.h"

namespace moiety {

class Device;

/// An ordered queue of work on a device. A CPU stream runs each kernel before it returns, on the
/// device's thread pool; a CUDA stream wraps a cudaStream_t. Owned by its Device.
class Stream {
 public:
  Stream(Device& device, ThreadPool* pool, void* native)
      : device_(&device), pool_(pool), native_(native) {}

  Device& device() const { return *device_; }
  bool is_cuda() const { return pool_ == nullptr; }
  /// The pool of a CPU stream.
  ThreadPool& pool() const { return *pool_; }
  /// The cudaStream_t of a CUDA stream, as an opaque pointer: no CUDA headers here.
  void* native() const { return native_; }

 private:
  Device* device_;
  ThreadPool* pool_;
  void* native_;
};

/// Whether this build has CUDA bodies to dispatch to.
#if defined(MOIETY_HAS_CUDA)
inline constexpr bool kHasCuda = true;
#else
inline constexpr bool kHasCuda = false;
#endif

/// Dispatch in one line: run_on<cpu::f, cuda::f>(stream, args...) calls the implementation that
/// belongs to the stream's device. A family without a CUDA body names cpu::f alone and throws
/// CudaError on a CUDA stream.
template <auto kCpu, auto... kCuda, class... Args>
void run_on(const Stream& stream, Args&&... args) {
  if (!stream.is_cuda()) return kCpu(stream, std::forward<Args>(args)...);
  if constexpr (kHasCuda && sizeof...(kCuda) == 1) {
    return (kCuda(stream, std::forward<Args>(args)...), ...);
  } else {
    throw CudaError("this operation has no CUDA kernel in this build; use run.device = \"cpu\"");
  }
}

/// Splits [0, n) into chunks of `grain` and runs f(begin, end) on them in parallel. The chunks
/// depend on n and grain only, so a result that depends on them is the same on any thread count.
template <class F>
void parallel_for(const Stream& stream, std::int64_t n, std::int64_t grain, const F& f) {
  check(grain > 0, "parallel_for needs a grain of at least 1, not ", grain);
  const std::int64_t chunks = (n + grain - 1) / grain;
  if (chunks <= 1) {
    if (n > 0) f(std::int64_t{0}, n);
    return;
  }
  stream.pool().run(
      chunks, [&](std::int64_t chunk) { f(chunk * grain, std::min(n, (chunk + 1) * grain)); });
}

}  // namespace moiety

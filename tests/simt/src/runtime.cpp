// SPDX-License-Identifier: Apache-2.0
// The host interface but for streams and errors: the device, its memory, launches.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "memory.h"
#include "scheduler.h"
#include "simt/emulator.h"
#include "stream.h"

namespace simt {
namespace {

// Few multiprocessors, so that grids sized by them still loop over small tests.
constexpr int kMultiprocessors = 4;
constexpr int kSecondLevelCache = 64 * 1024;  // small, as its memory is
constexpr std::size_t kDefaultDynamicShared = 48 << 10;

std::map<const void*, std::size_t>& dynamic_shared_limits() {
  static std::map<const void*, std::size_t> limits;
  return limits;
}

cudaError_t check_configuration(const Kernel& kernel, const Configuration& configuration) {
  const auto& [grid, block, dynamic] = configuration;
  const auto within = [](dim3 size, std::uint64_t x, unsigned y, unsigned z) {
    return size.x > 0 && size.y > 0 && size.z > 0 && size.x <= x && size.y <= y && size.z <= z;
  };
  if (!within(grid, 0x7fffffff, 65535, 65535) || !within(block, 1024, 1024, 64) ||
      std::uint64_t{block.x} * block.y * block.z > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  const auto limit = dynamic_shared_limits().find(kernel.function());
  const bool fits =
      dynamic <= (limit == dynamic_shared_limits().end() ? kDefaultDynamicShared : limit->second);
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}

/// Whether the range can be copied: of the emulated GPU, within an allocation; or of the host.
bool is_valid(const void* data, std::size_t bytes) {
  return data != nullptr && (!memory().contains(data) || memory().is_allocated(data, bytes));
}

/// What is wrong with the range as a whole block of the emulated GPU, or "".
std::string fault_of(const void* data, std::size_t bytes) {
  return memory().contains(data) ? memory().fault_of(data, bytes) : "";
}

bool is_pageable(const void* data, std::size_t bytes) {
  return !memory().contains(data) && !memory().is_pinned(data, bytes);
}

bool fits_kind(cudaMemcpyKind kind, const void* to, const void* from) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return kind == cudaMemcpyDefault ||
         (memory().contains(to) == to_device && memory().contains(from) == from_device);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  if (!is_valid(to, bytes) || !is_valid(from, bytes)) return cudaErrorInvalidValue;
  std::string fault = fault_of(to, bytes);
  if (fault.empty()) fault = fault_of(from, bytes);
  const auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  if (fault.empty() && target < source + bytes && source < target + bytes) {
    fault = concat("a copy of ", bytes, " bytes between ranges that overlap");
  }
  if (!fault.empty()) return status_of(std::move(fault));
  std::memcpy(to, from, bytes);
  if (!memory().contains(to)) return cudaSuccess;
  if (memory().contains(from)) {
    memory().copy_content(to, from, bytes);
  } else {
    memory().mark(to, bytes, Content::defined);
  }
  return cudaSuccess;
}

cudaError_t fill(void* data, int value, std::size_t bytes) {
  if (!is_valid(data, bytes) || is_pageable(data, bytes)) return cudaErrorInvalidValue;
  if (std::string fault = fault_of(data, bytes); !fault.empty()) {
    return status_of(std::move(fault));
  }
  std::memset(data, value, bytes);
  if (memory().contains(data)) memory().mark(data, bytes, Content::defined);
  return cudaSuccess;
}

}  // namespace

cudaError_t submit(std::unique_ptr<const Kernel> kernel, const Configuration& configuration,
                   cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  const cudaError_t status = check_configuration(*kernel, configuration);
  if (status != cudaSuccess) return finish(status);
  std::shared_ptr<const Kernel> shared = std::move(kernel);
  return finish(enqueue(stream, [shared, configuration] {
    return status_of(scheduler().run(*shared, configuration));
  }));
}

void note_block(void* data, std::size_t bytes) {
  const std::lock_guard lock(runtime_mutex());
  if (bytes == 0 || !memory().contains(data)) return;
  memory().note(data, bytes);
  if (Capture* const capture = capture_of_this_thread()) {
    capture->work.push_back([data, bytes] {
      if (!memory().is_noted(data)) memory().note(data, bytes);
      return cudaSuccess;
    });
  }
}

void forget_block(void* data) {
  const std::lock_guard lock(runtime_mutex());
  if (!memory().contains(data)) return;
  memory().forget(data);
  if (Capture* const capture = capture_of_this_thread()) {
    capture->work.push_back([data] {
      memory().forget(data);
      return cudaSuccess;
    });
  }
}

}  // namespace simt

using simt::finish;
using simt::memory;
using simt::runtime_mutex;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return finish(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return finish(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Emulated GPU");
  properties->totalGlobalMem = simt::settings().memory_bytes;
  properties->sharedMemPerBlock = simt::kDefaultDynamicShared;
  properties->sharedMemPerBlockOptin = simt::kLargestSharedMemory;
  properties->sharedMemPerMultiprocessor = simt::kLargestSharedMemory + 1024;
  properties->l2CacheSize = simt::kSecondLevelCache;
  properties->major = 9;
  properties->minor = 0;
  properties->multiProcessorCount = simt::kMultiprocessors;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->warpSize = warpSize;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  const cudaError_t status = cudaGetDeviceProperties(&properties, device);
  if (status != cudaSuccess) return status;
  const std::map<cudaDeviceAttr, std::size_t> values = {
      {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, properties.sharedMemPerBlock},
      {cudaDevAttrWarpSize, properties.warpSize},
      {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
      // Whoever looks for a GPU passes over a prohibited one; whoever asks for it by name gets it.
      {cudaDevAttrComputeMode,
       simt::settings().offered ? cudaComputeModeDefault : cudaComputeModeProhibited},
      {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
      {cudaDevAttrComputeCapabilityMajor, properties.major},
      {cudaDevAttrComputeCapabilityMinor, properties.minor},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, properties.sharedMemPerMultiprocessor},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, properties.sharedMemPerBlockOptin}};
  const auto found = values.find(attribute);
  if (found == values.end()) return finish(cudaErrorInvalidValue);
  *value = static_cast<int>(found->second);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  const std::lock_guard lock(runtime_mutex());
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  const auto bytes = static_cast<std::size_t>(value);
  if (value < 0 || bytes > simt::kLargestSharedMemory) return finish(cudaErrorInvalidValue);
  simt::dynamic_shared_limits()[function] = bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const std::lock_guard lock(runtime_mutex());
  *data = nullptr;
  const cudaError_t status = simt::check_allowed_in_capture();
  if (status != cudaSuccess || bytes == 0) return finish(status);
  *data = memory().allocate(bytes);
  return finish(*data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaFree(void* data) {
  const std::lock_guard lock(runtime_mutex());
  const cudaError_t status = simt::check_allowed_in_capture();
  if (status != cudaSuccess || data == nullptr) return finish(status);
  return finish(memory().release(data) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  const std::lock_guard lock(runtime_mutex());
  *data = nullptr;
  const cudaError_t status = simt::check_allowed_in_capture();
  if (status != cudaSuccess || bytes == 0) return finish(status);
  *data = memory().allocate_pinned(bytes);
  return finish(*data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaFreeHost(void* data) {
  const std::lock_guard lock(runtime_mutex());
  const cudaError_t status = simt::check_allowed_in_capture();
  if (status != cudaSuccess || data == nullptr) return finish(status);
  return finish(memory().release_pinned(data) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(runtime_mutex());
  *total = simt::settings().memory_bytes;
  *free = *total - std::min(*total, memory().bytes_in_use());
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const std::lock_guard lock(runtime_mutex());
  void* const data = const_cast<void*>(pointer);
  if (memory().is_allocated(data, 1)) {
    *attributes = {cudaMemoryTypeDevice, 0, data, nullptr};
  } else if (memory().is_pinned(data, 1)) {
    *attributes = {cudaMemoryTypeHost, 0, data, data};
  } else {
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, data};
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  if (bytes == 0) return cudaSuccess;
  if (!simt::fits_kind(kind, to, from)) return finish(cudaErrorInvalidValue);
  // What memory that is not pinned holds at the time of a replay is anybody's guess.
  if (simt::is_capturing(stream) &&
      (simt::is_pageable(to, bytes) || simt::is_pageable(from, bytes))) {
    return finish(simt::refuse_in_capture(stream));
  }
  return finish(simt::enqueue(stream, [=] { return simt::copy(to, from, bytes); }));
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  if (bytes == 0) return cudaSuccess;
  return finish(simt::enqueue(stream, [=] { return simt::fill(data, value, bytes); }));
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simt/emulator.h"

namespace simt_test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Numbers in the emulated GPU's memory, freed at the end.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    void* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, count * sizeof(T)), cudaSuccess);
    data_ = static_cast<T*>(data);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { set(values); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  void set(const std::vector<T>& values) {
    EXPECT_EQ(cudaMemcpyAsync(data_, values.data(), count_ * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
  }
  std::vector<T> get() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), data_, count_ * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Puts the emulator's settings back at the end of a test.
class SettingsGuard {
 public:
  SettingsGuard() : before_(simt::settings()) {}
  ~SettingsGuard() { simt::settings() = before_; }
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

 private:
  simt::Settings before_;
};

/// The settings under which kernels without mistakes must give the same results.
inline std::vector<simt::Settings> all_orders() {
  std::vector<simt::Settings> all(5);
  all[1].order = simt::Order::reverse;
  all[2].order = simt::Order::random;
  all[3].order = simt::Order::random;
  all[3].seed = 7;
  all[3].preempt = 0.05;
  all[4].preempt = 0.5;
  return all;
}

/// What the last failed launch of this thread did wrong.
inline std::string violation() { return cudaGetErrorString(cudaErrorLaunchFailure); }

}  // namespace simt_test

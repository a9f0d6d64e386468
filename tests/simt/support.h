// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "simt/emulator.h"

namespace simt_test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tensor/cuda/pinned_buffer.h"

namespace moiety {

/// What a kernel found wrong with its input, in memory that both sides see. The kernel leaves what
/// it cannot do undone; the host throws at the next synchronisation, without one of its own.
struct KernelFault {
  std::int32_t code;   ///< 0: none; else what watch() gave. The first fault wins.
  std::int32_t ready;  ///< set last, when the rest is written
  long long place;
  long long value;
  long long limit;
};

/// The faults of one GPU.
class KernelFaults {
 public:
  explicit KernelFaults(const Device& device);

  /// A code for faults of a tensor in an operation: "gather", "index". Every launch asks: only the
  /// first one of a pair allocates.
  std::int32_t watch(const char* operation, const char* name);
  /// Where kernels report.
  KernelFault* slot() const;
  /// Throws Error naming operation, tensor, place, value and limit where a kernel has reported.
  void raise();

 private:
  struct Watched {
    std::string operation;
    std::string name;
  };

  std::mutex mutex_;
  std::vector<Watched> watched_;
  PinnedBuffer memory_;
};

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/kernel_faults.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "tensor/error.h"

namespace moiety {

KernelFaults::KernelFaults(const Device& device) : memory_(device, sizeof(KernelFault)) {
  new (memory_.data()) KernelFault{};
}

std::int32_t KernelFaults::watch(const char* operation, const char* name) {
  const std::lock_guard lock(mutex_);
  const std::string text = concat(operation, ": ", name);
  const auto found = std::find(watched_.begin(), watched_.end(), text);
  const auto code = static_cast<std::int32_t>(found - watched_.begin()) + 1;
  if (found == watched_.end()) watched_.push_back(text);
  return code;
}

KernelFault* KernelFaults::slot() const { return reinterpret_cast<KernelFault*>(memory_.data()); }

void KernelFaults::raise() {
  KernelFault& fault = *slot();
  if (std::atomic_ref(fault.ready).load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  const KernelFault found = fault;
  fault = {};
  throw Error(concat(watched_.at(static_cast<std::size_t>(found.code) - 1), "[", found.place,
                     "] is ", found.value, ", which is not in [0, ", found.limit, ")"));
}

}  // namespace moiety

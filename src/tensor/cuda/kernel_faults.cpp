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
  const auto found = std::find_if(watched_.begin(), watched_.end(), [&](const Watched& w) {
    return w.operation == operation && w.name == name;
  });
  const auto code = static_cast<std::int32_t>(found - watched_.begin()) + 1;
  if (found == watched_.end()) watched_.push_back({operation, name});
  return code;
}

KernelFault* KernelFaults::slot() const { return reinterpret_cast<KernelFault*>(memory_.data()); }

void KernelFaults::raise() {
  KernelFault& fault = *slot();
  if (std::atomic_ref(fault.ready).load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  const KernelFault found = fault;
  fault = {};
  const auto& [operation, name] = watched_.at(static_cast<std::size_t>(found.code) - 1);
  throw Error(concat(operation, ": ", name, "[", found.place, "] is ", found.value,
                     ", which is not in [0, ", found.limit, ")"));
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
// The scheduler's part in accesses to memory: asynchronous copies, and what is checked of each.
#include <cstring>

#include "scheduler.h"

namespace simt {

void Scheduler::queue_copy(void* shared, const void* global, int bytes, int source_bytes,
                           Place place) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared);
  const auto source = reinterpret_cast<std::uintptr_t>(global);
  const auto size = static_cast<std::uintptr_t>(bytes);
  if (source_bytes < 0 || source_bytes > bytes) {
    fail(concat("cp.async: ", source_bytes, " of ", bytes, " bytes"), place);
  }
  if (address % size != 0 || (source_bytes > 0 && source % size != 0)) {
    fail(concat("cp.async: an address is not aligned to ", bytes, " bytes"), place);
  }
  if (!memory().is_shared(shared)) fail("cp.async: the target is not shared memory", place);
  if constexpr (kChecks) {
    if (source_bytes > 0) {
      check_access(global, static_cast<std::size_t>(source_bytes), Access::read, Site::of(place));
    }
    check_access(shared, size, Access::write, Site::of(place));
    checker_.make_undefined(shared, size);
  }
  Copies& copies = copies_of_current();
  copies.pending.push_back({shared, global, bytes, source_bytes, copies.committed, place});
}

Scheduler::Copies& Scheduler::copies_of_current() {
  copies_.resize(threads_.size());
  return copies_[current_];
}

void Scheduler::land_copies(int groups) {
  Copies& copies = copies_of_current();
  auto copy = copies.pending.begin();
  while (copy != copies.pending.end() &&
         copy->group + static_cast<unsigned>(groups) < copies.committed) {
    land(*copy++);
  }
  copies.pending.erase(copies.pending.begin(), copy);
}

void Scheduler::land(const Copy& copy) {
  const auto size = static_cast<std::size_t>(copy.bytes);
  const auto read = static_cast<std::size_t>(copy.source_bytes);
  if constexpr (kChecks) {
    if (read > 0) check_access(copy.global, read, Access::read, Site::of(copy.place));
    check_access(copy.shared, size, Access::write, Site::of(copy.place));
  }
  std::memcpy(copy.shared, copy.global, read);
  std::memset(static_cast<std::byte*>(copy.shared) + read, 0, size - read);
}

void Scheduler::check_access(const void* data, std::size_t bytes, Access kind, Site site) {
  std::string fault;
  if (memory().contains(data)) {
    fault = checker_.access(current_, data, bytes, kind, site);
  } else if (!may_use(data, bytes)) {
    fault = concat("not device memory: an access to ", bytes, " bytes of the host at ", data);
  }
  if (fault.empty()) [[likely]]
    return;
  fault += by_whom(site.text());
  end_with(std::move(fault));
}

void Scheduler::check_observed(const void* data, std::size_t bytes, Access kind,
                               std::size_t alignment, const void* return_address) {
  const Site site = Site::of_call(return_address);
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
    std::string fault = concat("misaligned: an access to ", bytes, " bytes");
    fault += by_whom(site.text());
    end_with(std::move(fault));
  }
  check_access(data, bytes, kind, site);
  maybe_preempt();
}

/// What a thread may use outside of the GPU's memory: its stack, the kernel's arguments, constants
/// and variables of the program, and pinned memory.
bool Scheduler::may_use(const void* host, std::size_t bytes) const {
  const auto within = [host](const void* begin, std::size_t size) {
    const auto* byte = static_cast<const std::byte*>(host);
    return byte >= begin && byte < static_cast<const std::byte*>(begin) + size;
  };
  const Context& stack = threads_[current_].fiber->context();
  return within(stack.low, stack.bytes) || is_in_executable(host) ||
         within(kernel_, kernel_->bytes()) || memory().is_pinned(host, bytes);
}

}  // namespace simt

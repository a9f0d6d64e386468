// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <atomic>

#include "tensor/caching_allocator.h"
#include "tensor/error.h"
#include "tensor/host_memory.h"

namespace moiety {
namespace {

class SystemSlabSource final : public SlabSource {
 public:
  /// Asks what is free first: the system promises more than it has, and ends the process without a
  /// word where the promise is called in.
  void* take(std::size_t bytes) override {
    const bool fits = bytes <= host_memory().free;
    void* slab =
        fits ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
             : MAP_FAILED;
    if (slab == MAP_FAILED) throw out_of_memory("cpu", bytes, held_, host_memory());
    madvise(slab, bytes, MADV_HUGEPAGE);  // a hint: refused without harm
    held_ += bytes;
    return slab;
  }
  void give_back(void* slab, std::size_t bytes) noexcept override {
    munmap(slab, bytes);
    held_ -= bytes;
  }

 private:
  std::atomic<std::size_t> held_{0};
};

}  // namespace

std::unique_ptr<SlabSource> make_system_slab_source() {
  return std::make_unique<SystemSlabSource>();
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "tensor/caching_allocator.h"
#include "tensor/error.h"

namespace moiety {
namespace {

class SystemSlabSource final : public SlabSource {
 public:
  void* take(std::size_t bytes) override {
    void* slab = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(slab != MAP_FAILED, "out of memory: the system refused ", bytes >> 20,
          " MiB; lower data.batch_size or model.hidden");
    madvise(slab, bytes, MADV_HUGEPAGE);  // a hint: refused without harm
    return slab;
  }
  void give_back(void* slab, std::size_t bytes) noexcept override { munmap(slab, bytes); }
};

}  // namespace

std::unique_ptr<SlabSource> make_system_slab_source() {
  return std::make_unique<SystemSlabSource>();
}

}  // namespace moiety

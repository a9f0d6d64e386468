// SPDX-License-Identifier: Apache-2.0
// What code compiled with -fsanitize=thread calls, in place of the thread sanitizer's own runtime:
// an access of a kernel goes to the checker, one of host code nowhere.
#include <cstddef>

#include "scheduler.h"

namespace {

using simt::Access;

inline __attribute__((always_inline)) void observe(const void* data, std::size_t bytes,
                                                   Access access, std::size_t alignment = 1) {
  if (!simt::kernel_code_runs) return;
  simt::kernel_code_runs = false;
  simt::scheduler().check_observed(data, bytes, access, alignment, __builtin_return_address(0));
  simt::kernel_code_runs = true;
}

}  // namespace

// The names are the compiler's.
extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __tsan_read1(void* data) { observe(data, 1, Access::read); }
void __tsan_read2(void* data) { observe(data, 2, Access::read, 2); }
void __tsan_read4(void* data) { observe(data, 4, Access::read, 4); }
void __tsan_read8(void* data) { observe(data, 8, Access::read, 8); }
void __tsan_read16(void* data) { observe(data, 16, Access::read, 16); }
void __tsan_write1(void* data) { observe(data, 1, Access::write); }
void __tsan_write2(void* data) { observe(data, 2, Access::write, 2); }
void __tsan_write4(void* data) { observe(data, 4, Access::write, 4); }
void __tsan_write8(void* data) { observe(data, 8, Access::write, 8); }
void __tsan_write16(void* data) { observe(data, 16, Access::write, 16); }
void __tsan_unaligned_read2(void* data) { observe(data, 2, Access::read); }
void __tsan_unaligned_read4(void* data) { observe(data, 4, Access::read); }
void __tsan_unaligned_read8(void* data) { observe(data, 8, Access::read); }
void __tsan_unaligned_read16(void* data) { observe(data, 16, Access::read); }
void __tsan_unaligned_write2(void* data) { observe(data, 2, Access::write); }
void __tsan_unaligned_write4(void* data) { observe(data, 4, Access::write); }
void __tsan_unaligned_write8(void* data) { observe(data, 8, Access::write); }
void __tsan_unaligned_write16(void* data) { observe(data, 16, Access::write); }
void __tsan_read_range(void* data, std::size_t bytes) { observe(data, bytes, Access::read); }
void __tsan_write_range(void* data, std::size_t bytes) { observe(data, bytes, Access::write); }

// Host code next to kernels uses these, for static variables and reference counts.
unsigned char __tsan_atomic8_load(const volatile unsigned char* data, int) {
  return __atomic_load_n(data, __ATOMIC_SEQ_CST);
}
void __tsan_atomic8_store(volatile unsigned char* data, unsigned char value, int) {
  __atomic_store_n(data, value, __ATOMIC_SEQ_CST);
}
int __tsan_atomic32_load(const volatile int* data, int) {
  return __atomic_load_n(data, __ATOMIC_SEQ_CST);
}
int __tsan_atomic32_fetch_add(volatile int* data, int value, int) {
  return __atomic_fetch_add(data, value, __ATOMIC_SEQ_CST);
}
long __tsan_atomic64_load(const volatile long* data, int) {
  return __atomic_load_n(data, __ATOMIC_SEQ_CST);
}
long __tsan_atomic64_fetch_add(volatile long* data, long value, int) {
  return __atomic_fetch_add(data, value, __ATOMIC_SEQ_CST);
}

}  // extern "C"

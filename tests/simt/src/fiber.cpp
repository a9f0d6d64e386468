// SPDX-License-Identifier: Apache-2.0
#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// void simt_switch_stack(void** save_stack_pointer, void* stack_pointer): pushes the registers that
// a function must preserve, exchanges the stacks, pops the other's registers and returns there.
extern "C" void simt_switch_stack(void** save, void* stack_pointer);

#if defined(__x86_64__)
asm(R"(
.text
.globl simt_switch_stack
.type simt_switch_stack, @function
simt_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simt_switch_stack, . - simt_switch_stack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl simt_switch_stack
.type simt_switch_stack, %function
simt_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size simt_switch_stack, . - simt_switch_stack
)");
#else
#error "the emulator has no context switch for this processor"
#endif

namespace simt {
namespace {

constexpr std::size_t kGuardBytes = 64 << 10;  // a page of any size
constexpr std::size_t kStackBytes = 256 << 10;

// What the switch pops on the first arrival: zeros, and the program as the address to return to.
#if defined(__x86_64__)
constexpr std::size_t kFrameWords = 8;
constexpr std::size_t kProgramWord = 6;
#else
constexpr std::size_t kFrameWords = 20;
constexpr std::size_t kProgramWord = 11;
#endif

}  // namespace

void switch_context(Context& from, const Context& to, [[maybe_unused]] bool finished) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(finished ? nullptr : &from.shadow, to.low, to.bytes);
#endif
  simt_switch_stack(&from.stack_pointer, to.stack_pointer);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.shadow, nullptr, nullptr);
#endif
}

Fiber::Fiber() {
  void* memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, kGuardBytes, PROT_NONE);
  context_.low = static_cast<std::byte*>(memory) + kGuardBytes;
  context_.bytes = kStackBytes;
}

Fiber::~Fiber() {
  munmap(static_cast<std::byte*>(const_cast<void*>(context_.low)) - kGuardBytes,
         kGuardBytes + kStackBytes);
}

void Fiber::prepare(void (*program)()) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(context_.low, context_.bytes);  // of frames that were given up
#endif
  auto* const top =
      reinterpret_cast<std::uintptr_t*>(static_cast<std::byte*>(const_cast<void*>(context_.low))) +
      kStackBytes / sizeof(std::uintptr_t);
  std::uintptr_t* const frame = top - kFrameWords;
  std::memset(frame, 0, kFrameWords * sizeof(std::uintptr_t));
  frame[kProgramWord] = reinterpret_cast<std::uintptr_t>(program);
  context_.stack_pointer = frame;
}

void Fiber::arrived([[maybe_unused]] Context& host) {
#if defined(__SANITIZE_ADDRESS__)
  const void* low = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &low, &bytes);
  if (host.low == nullptr) {
    host.low = low;
    host.bytes = bytes;
  }
#endif
}

}  // namespace simt

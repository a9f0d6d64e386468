// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace simt {

/// A stack and the point at which its program has stopped. What a program was called on (the
/// stack of the host thread) is one as well, once it has been left.
struct Context {
  void* stack_pointer = nullptr;
  const void* low = nullptr;  ///< lowest usable byte of the stack
  std::size_t bytes = 0;
  void* shadow = nullptr;  ///< AddressSanitizer's own record of the stack while it rests
};

/// Leaves `from` and goes on where `to` has stopped. Returns when somebody switches back to `from`;
/// `finished` says that nobody will.
void switch_context(Context& from, const Context& to, bool finished);

/// A stack of its own with a guard page below, for programs that run one after another.
class Fiber {
 public:
  /// Throws std::bad_alloc.
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Lets the next switch to this fiber call `program`, which must not return and must begin with
  /// arrived(). Whatever the fiber did before is forgotten.
  void prepare(void (*program)());
  /// Completes the first switch to a fiber, made from the stack of `host` or of another fiber.
  static void arrived(Context& host);

  Context& context() { return context_; }

 private:
  Context context_;
};

}  // namespace simt

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

/// A shared array of a kernel: what it is, and where it lies in the running block.
struct SharedArray {
  const char* name;
  std::size_t bytes;
  std::size_t alignment;
  void* data = nullptr;
  std::uint64_t block = 0;  ///< serial number of the block for which `data` holds
};

/// The array's memory in the running block. The first thread of a block to ask makes it: exactly
/// as large as declared, and filled with 0xff.
void* shared_memory(SharedArray& array);
/// The block's dynamic shared memory, aligned to 1024 bytes.
unsigned char* dynamic_shared_memory();

}  // namespace simt

/// Declares a shared array, MOIETY_SHARED(float, tile, [32][33]), or a variable,
/// MOIETY_SHARED(int, last, ).
#define MOIETY_SHARED(T, name, ...)                                             \
  using name##_type = T __VA_ARGS__;                                            \
  static constinit ::simt::SharedArray name##_array{#name, sizeof(name##_type), \
                                                    alignof(name##_type)};      \
  name##_type& name = *static_cast<name##_type*>(::simt::shared_memory(name##_array))

/// Declares `unsigned char* name`, the dynamic shared memory of the launch.
#define MOIETY_DYNAMIC_SHARED(name) unsigned char* name = ::simt::dynamic_shared_memory()

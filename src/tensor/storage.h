// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tensor/device.h"

namespace moiety {

/// A block of device memory, shared by the tensors that look into it. Returns to the device's
/// caching allocator with the last of them.
class Storage {
 public:
  Storage(Device& device, std::size_t bytes)
      : device_(device), block_(device.allocator().allocate(bytes)), bytes_(bytes) {}
  ~Storage() { device_.allocator().deallocate(block_); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device& device() const { return device_; }
  std::byte* data() const { return static_cast<std::byte*>(block_.data); }
  std::size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  CachingAllocator::Block block_;
  std::size_t bytes_;
};

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "simt/device.h"

namespace simt {

/// Streams the parts into one string.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// "segment_cuda.cu:45".
std::string text_of(const Place& place);

/// Where a kernel did something: an instruction, or the place given to a device function. Both lie
/// in the executable, so that 32 bits tell which.
class Site {
 public:
  Site() = default;
  /// The call that returns to `return_address`.
  static Site of_call(const void* return_address);
  static Site of(const Place& place);

  /// The file and line, of the kernel rather than of the emulator's headers.
  std::string text() const;

 private:
  explicit Site(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_ = 0;
};

/// Whether this is a variable or constant of the executable, which kernels may use.
bool is_in_executable(const void* memory);

}  // namespace simt

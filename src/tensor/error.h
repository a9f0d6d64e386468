// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace moiety {

/// Base of everything this library throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes that do not fit each other or the operation.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A dtype that the operation does not take.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// A CUDA call failed, or CUDA was asked for in vain.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// A device has no memory left.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// A collective failed, timed out or did not match across ranks.
class CommError : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written, or its content is not what it should be.
class IoError : public Error {
 public:
  using Error::Error;
};

/// The user's mistake: a recipe key, a flag, an input. The tool exits with 2.
class UserError : public Error {
 public:
  using Error::Error;
};

/// Streams the parts into one string: concat("row ", 3).
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws `E` with the parts joined unless `ok`.
template <class E = Error, class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]] {
    throw E(concat(parts...));
  }
}

}  // namespace moiety

/// An internal invariant: throws moiety::Error naming the condition, the parts and the place.
#define MOIETY_CHECK(cond, ...)                                                                \
  do {                                                                                         \
    if (!(cond)) [[unlikely]] {                                                                \
      throw ::moiety::Error(::moiety::concat(                                                  \
          __FILE__, ":", __LINE__, ": " #cond " does not hold. " __VA_OPT__(, ) __VA_ARGS__)); \
    }                                                                                          \
  } while (false)

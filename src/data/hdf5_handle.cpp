// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_handle.h"

#include <string_view>

#include "tensor/error.h"

namespace moiety::data {
namespace {

/// Keeps the description of the innermost error: where things first went wrong.
herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* out) {
  if (error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
  return 0;
}

/// Of a system call that failed HDF5 tells all it knows, in which the system's own words are
/// quoted.
std::string shorten(const std::string& reason) {
  constexpr std::string_view kQuote = "error message = '";
  const std::size_t quote = reason.find(kQuote);
  if (quote == std::string::npos) return reason;
  const std::size_t begin = quote + kQuote.size();
  return reason.substr(begin, reason.find('\'', begin) - begin);
}

[[noreturn]] void fail(const std::string& what) {
  std::string reason = "unknown HDF5 error";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &reason);
  throw IoError(what + ": " + shorten(reason));
}

}  // namespace

Hdf5Handle::Hdf5Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
  if (id < 0) fail(what);
}

herr_t Hdf5Handle::reset() noexcept {
  return id_ < 0 ? 0 : close_(std::exchange(id_, H5I_INVALID_HID));
}

void check_hdf5(herr_t status, const std::string& what) {
  if (status < 0) fail(what);
}

Hdf5Silence::Hdf5Silence() {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Silence::~Hdf5Silence() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

}  // namespace moiety::data

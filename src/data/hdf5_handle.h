// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace moiety::data {

/// Owns an HDF5 identifier: file, data set, data space, type, attribute or property list.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  /// Takes what an HDF5 call returned. Throws IoError "<what>: <HDF5's reason>" when it failed.
  Hdf5Handle(hid_t id, Close close, const std::string& what);
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  hid_t id() const { return id_; }
  /// Closes now; what is still open is closed by the destructor, which cannot report a failure.
  herr_t reset() noexcept;

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Throws IoError "<what>: <HDF5's reason>" when an HDF5 call returned a negative status.
void check_hdf5(herr_t status, const std::string& what);

/// While this lives, HDF5 prints nothing to stderr in this thread: errors become exceptions.
class Hdf5Silence {
 public:
  Hdf5Silence();
  ~Hdf5Silence();
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;

 private:
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/hdf5_handle.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace moiety::data {

/// A column as it stands in a file: contiguous, uncompressed.
struct Hdf5Column {
  Shape shape;
  std::int64_t offset = 0;  ///< from the start of the file; 0 when there are no bytes
  std::int64_t bytes = 0;
};

/// Reads the structure of an HDF5 file; columns are located, not read. Everything throws IoError
/// naming the file and the object. One thread at a time.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);

  bool exists(const std::string& name) const;
  /// Throws when the column is of another dtype or number of dimensions, chunked or stored outside.
  Hdf5Column locate(const std::string& name, DType dtype, int ndim) const;

  /// Number of texts in a data set.
  std::int64_t count_texts(const std::string& name) const;
  /// Those of `rows`, in their order.
  std::vector<std::string> read_texts(const std::string& name,
                                      std::span<const std::int64_t> rows) const;

  std::vector<std::int64_t> integers(const std::string& object, const std::string& name) const;
  std::vector<double> reals(const std::string& object, const std::string& name) const;
  std::vector<std::string> texts(const std::string& object, const std::string& name) const;
  std::int64_t integer(const std::string& object, const std::string& name) const;
  std::string text(const std::string& object, const std::string& name) const;

 private:
  Hdf5Handle open_dataset(const std::string& name) const;
  Hdf5Handle open_attribute(const std::string& object, const std::string& name,
                            H5T_class_t expected) const;
  template <class T>
  std::vector<T> numbers(const std::string& object, const std::string& name, H5T_class_t expected,
                         hid_t memory_type) const;
  std::string at(const std::string& name) const { return path_ + ": " + name; }
  std::string attribute_of(const std::string& object, const std::string& name) const {
    return at(object) + ": attribute " + name;
  }

  std::string path_;
  Hdf5Handle file_;
};

}  // namespace moiety::data

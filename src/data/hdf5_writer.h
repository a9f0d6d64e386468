// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/file_seal.h"
#include "data/hdf5_handle.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace moiety::data {

/// Writes an HDF5 file that is the same, byte for byte, for the same calls: fixed format version,
/// no times. Columns are contiguous, uncompressed and aligned, so that they can be mapped. Room for
/// a seal is left at the front. Everything throws IoError naming the file.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);

  void make_group(const std::string& name);

  /// Fills the block that it is given with the next bytes of a column, in row-major order.
  using FillBlock = std::function<void(std::span<std::byte>)>;
  void write_column(const std::string& name, DType dtype, const Shape& shape,
                    const FillBlock& fill);
  void write_texts(const std::string& name, std::int64_t count,
                   const std::function<std::string()>& next);

  void set_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);
  void set_attribute(const std::string& object, const std::string& name,
                     std::span<const std::int64_t> values);
  void set_attribute(const std::string& object, const std::string& name,
                     std::span<const double> values);
  void set_attribute(const std::string& object, const std::string& name,
                     std::span<const std::string> values);

  /// Where the columns that hold anything stand in the file.
  const std::vector<FileSection>& columns() const { return columns_; }
  /// Flushes and closes the file.
  void close();

 private:
  Hdf5Handle create_dataset(const std::string& name, hid_t type, const Hdf5Handle& space);
  void write_attribute(const std::string& object, const std::string& name, hid_t file_type,
                       hid_t memory_type, const Hdf5Handle& space, const void* values);
  std::string at(const std::string& name) const { return path_ + ": " + name; }

  std::string path_;
  Hdf5Silence silence_;
  Hdf5Handle file_;
  std::vector<FileSection> columns_;
};

}  // namespace moiety::data

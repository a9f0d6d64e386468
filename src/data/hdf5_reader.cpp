// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_reader.h"

#include <algorithm>
#include <array>

#include "data/hdf5_types.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// More than any attribute of the schema holds; an attribute beyond is not ours.
constexpr hssize_t kMaxAttributeValues = 1 << 20;

Hdf5Handle open_file(const std::string& path) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
  // Readers take no lock: several processes read one file, also on file systems without locks.
  check_hdf5(H5Pset_file_locking(access.id(), false, true), path);
  check_hdf5(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), path);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose, path};
}

Shape shape_of(const Hdf5Handle& dataset, const std::string& what) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose, what);
  const int ndim = H5Sget_simple_extent_ndims(space.id());
  check<IoError>(ndim >= 1 && ndim <= kMaxDims, what, ": has ", ndim, " dimensions");
  std::array<hsize_t, kMaxDims> extents{};
  check_hdf5(H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr), what);
  Shape shape;
  for (int d = 0; d < ndim; ++d) shape.push_back(static_cast<std::int64_t>(extents[d]));
  return shape;
}

std::int64_t checked_bytes(const Shape& shape, DType dtype, const std::string& what) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : shape) {
    check<IoError>(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes), what,
                   ": has an impossible shape ", shape);
  }
  return bytes;
}

void check_plain(const Hdf5Handle& dataset, const std::string& what) {
  const Hdf5Handle create(H5Dget_create_plist(dataset.id()), H5Pclose, what);
  check<IoError>(
      H5Pget_layout(create.id()) == H5D_CONTIGUOUS && H5Pget_external_count(create.id()) == 0, what,
      ": is not stored contiguously in the file");
}

std::size_t count_of(const Hdf5Handle& attribute, const std::string& what) {
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose, what);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  check<IoError>(count >= 0 && count <= kMaxAttributeValues, what, ": holds ", count, " values");
  return static_cast<std::size_t>(count);
}

void check_class(const Hdf5Handle& type, H5T_class_t expected, const std::string& what) {
  check<IoError>(H5Tget_class(type.id()) == expected &&
                     (expected != H5T_STRING || H5Tis_variable_str(type.id()) > 0),
                 what, ": is of the wrong type");
}

/// Texts as HDF5 hands them out: it allocates them, and takes them back with reclaim().
class BorrowedTexts {
 public:
  BorrowedTexts(std::size_t count, const Hdf5Handle& type, Hdf5Handle space)
      : type_(type), space_(std::move(space)), pointers_(count) {}
  ~BorrowedTexts() { H5Dvlen_reclaim(type_.id(), space_.id(), H5P_DEFAULT, pointers_.data()); }
  BorrowedTexts(const BorrowedTexts&) = delete;
  BorrowedTexts& operator=(const BorrowedTexts&) = delete;

  void* data() { return pointers_.data(); }
  hid_t space() const { return space_.id(); }
  std::vector<std::string> copy() const {
    std::vector<std::string> out;
    for (const char* text : pointers_) out.emplace_back(text == nullptr ? "" : text);
    return out;
  }

 private:
  const Hdf5Handle& type_;
  Hdf5Handle space_;
  std::vector<char*> pointers_;
};

}  // namespace

Hdf5Reader::Hdf5Reader(const std::string& path) : path_(path) {
  const Hdf5Silence silence;
  file_ = open_file(path);
}

bool Hdf5Reader::exists(const std::string& name) const {
  const Hdf5Silence silence;
  return H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Handle Hdf5Reader::open_dataset(const std::string& name) const {
  return {H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose, at(name)};
}

Hdf5Column Hdf5Reader::locate(const std::string& name, DType dtype, int ndim) const {
  const Hdf5Silence silence;
  const std::string what = at(name);
  const Hdf5Handle dataset = open_dataset(name);
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose, what);
  check<IoError>(H5Tequal(type.id(), hdf5_type(dtype)) > 0, what, ": is not of type ",
                 moiety::name_of(dtype));
  check_plain(dataset, what);
  Hdf5Column column;
  column.shape = shape_of(dataset, what);
  check<IoError>(column.shape.ndim() == ndim, what, ": has shape ", column.shape, " instead of ",
                 ndim, " dimensions");
  column.bytes = checked_bytes(column.shape, dtype, what);
  if (column.bytes == 0) return column;
  const haddr_t offset = H5Dget_offset(dataset.id());
  check<IoError>(offset != HADDR_UNDEF, what, ": has no data in the file");
  column.offset = static_cast<std::int64_t>(offset);
  return column;
}

std::int64_t Hdf5Reader::count_texts(const std::string& name) const {
  const Hdf5Silence silence;
  const Hdf5Handle dataset = open_dataset(name);
  check_class({H5Dget_type(dataset.id()), H5Tclose, at(name)}, H5T_STRING, at(name));
  const Shape shape = shape_of(dataset, at(name));
  check<IoError>(shape.ndim() == 1, at(name), ": has shape ", shape);
  return shape[0];
}

std::vector<std::string> Hdf5Reader::read_texts(const std::string& name,
                                                std::span<const std::int64_t> rows) const {
  const std::int64_t size = count_texts(name);
  for (const std::int64_t row : rows) {
    check<ShapeError>(row >= 0 && row < size, at(name), ": row ", row,
                      " is out of range: there are ", size);
  }
  if (rows.empty()) return {};
  const Hdf5Silence silence;
  const Hdf5Handle dataset = open_dataset(name);
  const Hdf5Handle type = hdf5_text_type();
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose, at(name));
  const std::vector<hsize_t> points(rows.begin(), rows.end());
  const hsize_t count = points.size();
  check_hdf5(H5Sselect_elements(space.id(), H5S_SELECT_SET, points.size(), points.data()),
             at(name));
  BorrowedTexts texts(count, type, {H5Screate_simple(1, &count, nullptr), H5Sclose, at(name)});
  check_hdf5(H5Dread(dataset.id(), type.id(), texts.space(), space.id(), H5P_DEFAULT, texts.data()),
             at(name));
  return texts.copy();
}

Hdf5Handle Hdf5Reader::open_attribute(const std::string& object, const std::string& name,
                                      H5T_class_t expected) const {
  const std::string what = attribute_of(object, name);
  const Hdf5Handle owner(H5Oopen(file_.id(), object.c_str(), H5P_DEFAULT), H5Oclose, what);
  Hdf5Handle attribute(H5Aopen(owner.id(), name.c_str(), H5P_DEFAULT), H5Aclose, what);
  check_class({H5Aget_type(attribute.id()), H5Tclose, what}, expected, what);
  return attribute;
}

template <class T>
std::vector<T> Hdf5Reader::numbers(const std::string& object, const std::string& name,
                                   H5T_class_t expected, hid_t memory_type) const {
  const Hdf5Silence silence;
  const std::string what = attribute_of(object, name);
  const Hdf5Handle attribute = open_attribute(object, name, expected);
  std::vector<T> values(count_of(attribute, what));
  if (!values.empty()) check_hdf5(H5Aread(attribute.id(), memory_type, values.data()), what);
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& object,
                                               const std::string& name) const {
  return numbers<std::int64_t>(object, name, H5T_INTEGER, H5T_NATIVE_INT64);
}

std::vector<double> Hdf5Reader::reals(const std::string& object, const std::string& name) const {
  return numbers<double>(object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}

std::vector<std::string> Hdf5Reader::texts(const std::string& object,
                                           const std::string& name) const {
  const Hdf5Silence silence;
  const std::string what = attribute_of(object, name);
  const Hdf5Handle attribute = open_attribute(object, name, H5T_STRING);
  const std::size_t count = count_of(attribute, what);
  if (count == 0) return {};
  const Hdf5Handle type = hdf5_text_type();
  BorrowedTexts values(count, type, {H5Aget_space(attribute.id()), H5Sclose, what});
  check_hdf5(H5Aread(attribute.id(), type.id(), values.data()), what);
  return values.copy();
}

std::int64_t Hdf5Reader::integer(const std::string& object, const std::string& name) const {
  const auto values = integers(object, name);
  check<IoError>(values.size() == 1, attribute_of(object, name), ": is not one number");
  return values[0];
}

std::string Hdf5Reader::text(const std::string& object, const std::string& name) const {
  auto values = texts(object, name);
  check<IoError>(values.size() == 1, attribute_of(object, name), ": is not one text");
  return std::move(values[0]);
}

}  // namespace moiety::data

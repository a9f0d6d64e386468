// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_writer.h"

#include <algorithm>
#include <array>

#include "data/hdf5_types.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;
constexpr std::int64_t kBlockTexts = 4096;
constexpr hsize_t kAlignment = 64;

using Extents = std::array<hsize_t, kMaxDims>;

Extents extents_of(const Shape& shape) {
  Extents out{};
  std::ranges::copy(shape, out.begin());
  return out;
}

Hdf5Handle make_space(const Shape& shape, const std::string& what) {
  return {H5Screate_simple(shape.ndim(), extents_of(shape).data(), nullptr), H5Sclose, what};
}

Hdf5Handle make_scalar_space(const std::string& what) {
  return {H5Screate(H5S_SCALAR), H5Sclose, what};
}

Hdf5Handle make_properties(hid_t kind, const std::string& what) {
  return {H5Pcreate(kind), H5Pclose, what};
}

Hdf5Handle create_file(const std::string& path) {
  const Hdf5Handle create = make_properties(H5P_FILE_CREATE, path);
  check_hdf5(H5Pset_userblock(create.id(), kSealBytes), path);
  check_hdf5(H5Pset_obj_track_times(create.id(), false), path);
  const Hdf5Handle access = make_properties(H5P_FILE_ACCESS, path);
  check_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18), path);
  check_hdf5(H5Pset_alignment(access.id(), 1, kAlignment), path);
  check_hdf5(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), path);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, create.id(), access.id()), H5Fclose, path};
}

/// Selects rows [begin, begin + rows) of `space` and returns a memory space for them.
Hdf5Handle select_rows(const Hdf5Handle& space, Shape shape, std::int64_t begin, std::int64_t rows,
                       const std::string& what) {
  shape[0] = rows;
  Extents start{};
  start[0] = static_cast<hsize_t>(begin);
  check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr,
                                 extents_of(shape).data(), nullptr),
             what);
  return make_space(shape, what);
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::string& path) : path_(path), file_(create_file(path)) {}

void Hdf5Writer::make_group(const std::string& name) {
  const Hdf5Handle create = make_properties(H5P_GROUP_CREATE, at(name));
  check_hdf5(H5Pset_obj_track_times(create.id(), false), at(name));
  const Hdf5Handle group(
      H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, create.id(), H5P_DEFAULT), H5Gclose,
      at(name));
}

Hdf5Handle Hdf5Writer::create_dataset(const std::string& name, hid_t type,
                                      const Hdf5Handle& space) {
  const Hdf5Handle create = make_properties(H5P_DATASET_CREATE, at(name));
  check_hdf5(H5Pset_obj_track_times(create.id(), false), at(name));
  check_hdf5(H5Pset_layout(create.id(), H5D_CONTIGUOUS), at(name));
  return {
      H5Dcreate2(file_.id(), name.c_str(), type, space.id(), H5P_DEFAULT, create.id(), H5P_DEFAULT),
      H5Dclose, at(name)};
}

void Hdf5Writer::write_column(const std::string& name, DType dtype, const Shape& shape,
                              const FillBlock& fill) {
  const Hdf5Handle space = make_space(shape, at(name));
  const Hdf5Handle dataset = create_dataset(name, hdf5_type(dtype), space);
  const std::int64_t bytes = shape.numel() * static_cast<std::int64_t>(size_of(dtype));
  if (bytes == 0) return;
  const std::int64_t row_bytes = bytes / shape[0];
  const std::int64_t block_rows = std::max<std::int64_t>(1, kBlockBytes / row_bytes);
  std::vector<std::byte> block;
  for (std::int64_t begin = 0; begin < shape[0]; begin += block_rows) {
    const std::int64_t rows = std::min(block_rows, shape[0] - begin);
    block.resize(static_cast<std::size_t>(rows * row_bytes));
    fill(block);
    const Hdf5Handle memory = select_rows(space, shape, begin, rows, at(name));
    check_hdf5(H5Dwrite(dataset.id(), hdf5_type(dtype), memory.id(), space.id(), H5P_DEFAULT,
                        block.data()),
               at(name));
  }
  const haddr_t offset = H5Dget_offset(dataset.id());
  check<IoError>(offset != HADDR_UNDEF, at(name), ": has no place in the file");
  columns_.push_back({name, static_cast<std::int64_t>(offset), bytes});
}

void Hdf5Writer::write_texts(const std::string& name, std::int64_t count,
                             const std::function<std::string()>& next) {
  const Hdf5Handle type = hdf5_text_type();
  const Shape shape = {count};
  const Hdf5Handle space = make_space(shape, at(name));
  const Hdf5Handle dataset = create_dataset(name, type.id(), space);
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (std::int64_t begin = 0; begin < count; begin += kBlockTexts) {
    const std::int64_t rows = std::min(kBlockTexts, count - begin);
    texts.resize(static_cast<std::size_t>(rows));
    std::ranges::generate(texts, next);
    pointers.clear();
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const Hdf5Handle memory = select_rows(space, shape, begin, rows, at(name));
    check_hdf5(
        H5Dwrite(dataset.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, pointers.data()),
        at(name));
  }
}

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name,
                                 hid_t file_type, hid_t memory_type, const Hdf5Handle& space,
                                 const void* values) {
  const std::string what = at(object) + ": attribute " + name;
  const Hdf5Handle owner(H5Oopen(file_.id(), object.c_str(), H5P_DEFAULT), H5Oclose, what);
  const Hdf5Handle attribute(
      H5Acreate2(owner.id(), name.c_str(), file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, what);
  if (values != nullptr) check_hdf5(H5Awrite(attribute.id(), memory_type, values), what);
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name,
                               std::int64_t value) {
  write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, make_scalar_space(at(name)),
                  &value);
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name,
                               const std::string& value) {
  const Hdf5Handle type = hdf5_text_type();
  const char* pointer = value.c_str();
  write_attribute(object, name, type.id(), type.id(), make_scalar_space(at(name)), &pointer);
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name,
                               std::span<const std::int64_t> values) {
  const Hdf5Handle space = make_space({std::ssize(values)}, at(name));
  write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, space, values.data());
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name,
                               std::span<const double> values) {
  const Hdf5Handle space = make_space({std::ssize(values)}, at(name));
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, values.data());
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name,
                               std::span<const std::string> values) {
  const Hdf5Handle type = hdf5_text_type();
  const Hdf5Handle space = make_space({std::ssize(values)}, at(name));
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  write_attribute(object, name, type.id(), type.id(), space, pointers.data());
}

void Hdf5Writer::close() { check_hdf5(file_.reset(), path_); }

}  // namespace moiety::data

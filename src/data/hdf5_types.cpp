// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_types.h"

namespace moiety::data {

hid_t hdf5_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return H5T_STD_U8LE;
    case DType::i32:
      return H5T_STD_I32LE;
    case DType::i64:
      return H5T_STD_I64LE;
    case DType::f32:
      return H5T_IEEE_F32LE;
    case DType::f64:
      return H5T_IEEE_F64LE;
    default:
      throw DTypeError("a data set has no columns of " + name_of(dtype));
  }
}

Hdf5Handle hdf5_text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 text type");
  check_hdf5(H5Tset_size(type.id(), H5T_VARIABLE), "HDF5 text type");
  check_hdf5(H5Tset_cset(type.id(), H5T_CSET_UTF8), "HDF5 text type");
  return type;
}

}  // namespace moiety::data

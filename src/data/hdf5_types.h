// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include "data/hdf5_handle.h"
#include "tensor/dtype.h"

namespace moiety::data {

/// The little-endian type of a column in a file. Borrowed from HDF5. Throws DTypeError for a dtype
/// that no column has.
hid_t hdf5_type(DType dtype);

/// UTF-8 text of any length, as h5py writes and reads it.
Hdf5Handle hdf5_text_type();

}  // namespace moiety::data

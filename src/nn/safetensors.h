// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace moiety::nn {

/// Where a tensor lies in a safetensors file.
struct StoredTensor {
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t begin = 0;  ///< bytes, counted from the end of the header
  std::int64_t end = 0;
};

/// What the header of a safetensors file says.
struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
};

/// Parses a header and checks it against the size of the data: known dtypes, sizes that are those
/// of the shapes, tensors side by side that fill the data exactly. Throws IoError naming `source`
/// and the tensor.
SafetensorsHeader parse_safetensors_header(const std::string& text, std::int64_t data_bytes,
                                           const std::string& source);

/// Gives the tensors their places, wide elements first so that each lies at a multiple of its
/// element's size, and returns their names in that order.
std::vector<std::string> place_tensors(SafetensorsHeader& header);

/// The JSON text. Throws IoError for a name or metadata that is not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace moiety::nn

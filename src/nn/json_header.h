// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace moiety::nn {

/// A tensor as the JSON header of a safetensors file describes it, not yet checked for sense.
struct JsonTensor {
  std::string dtype;                ///< "F32"
  std::vector<std::int64_t> shape;  ///< none is negative
  std::int64_t begin = 0;           ///< bytes, counted from the end of the header
  std::int64_t end = 0;
};

struct JsonHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, JsonTensor> tensors;
};

/// Reads exactly the JSON that safetensors headers consist of, without recursion: any other value,
/// key, number (a sign, a fraction, beyond 2^63 - 1), a key twice or bytes that are not UTF-8 throw
/// IoError naming `source` and the byte.
JsonHeader parse_json_header(std::string_view text, const std::string& source);

/// The reverse; metadata comes first, without spaces. Throws IoError for a name or text that is not
/// UTF-8.
std::string format_json_header(const JsonHeader& header);

}  // namespace moiety::nn

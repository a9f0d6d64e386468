// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace moiety::data {

/// "xxh64:0123456789abcdef" of a file's content. Throws UserError when it is missing.
std::string file_checksum(const std::string& path);

}  // namespace moiety::data

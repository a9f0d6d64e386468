// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace moiety::data {

/// XXH64 with seed 0 (Collet, xxHash specification 0.1.1): detects damage, not forgery. Faster than
/// a disk by far.
std::uint64_t xxh64(std::span<const std::byte> bytes);

/// "xxh64:0123456789abcdef" of a file's content. Throws IoError when it cannot be read.
std::string file_checksum(const std::string& path);

}  // namespace moiety::data

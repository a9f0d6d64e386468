// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace moiety::apps {

/// What --seed says. Throws UserError for anything but a whole number from 0 to 2^64 - 1; CLI11
/// would take one that is out of range as the nearest.
std::uint64_t parse_seed(const std::string& text);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moiety::data {

/// The text without blanks, tabs and line ends at either side.
std::string_view trim(std::string_view text);

/// ASCII lower case.
std::string to_lower(std::string_view text);

/// True for an empty cell and for NA, N/A, nan, null and none in any case.
bool is_missing(std::string_view cell);

/// The finite number that the whole cell spells ("-.72", "+1.5", "2e-3"), or nothing.
std::optional<double> parse_number(std::string_view cell);

/// "'a', 'b', 'c'" for a message; of many names the first ten and how many there are.
std::string quoted_list(const std::vector<std::string>& names);

/// One field of a comma-separated file: quoted where its content asks for it.
std::string csv_field(std::string_view text);

}  // namespace moiety::data

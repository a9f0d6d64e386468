// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace moiety::data {

/// The unit that the end of a column's name tells ("gap_ev" -> "eV"), or "".
std::string unit_from_name(std::string_view column);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace moiety::nn {

/// Whether the text is well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// Appends a code point below 0x110000 that is no surrogate.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace moiety::nn

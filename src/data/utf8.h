// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace moiety::data {

/// One character of a text in UTF-8.
struct Utf8Char {
  char32_t code = 0;      ///< the code point; the byte itself where it is no well-formed character
  std::size_t bytes = 1;  ///< how many it takes in the text
  bool valid = true;
};

/// The character that begins at text[at], which must exist. Overlong forms, surrogates and code
/// points above 0x10FFFF are not well-formed.
Utf8Char utf8_char(std::string_view text, std::size_t at);

/// The code point in UTF-8.
std::string to_utf8(char32_t code);

/// True when the whole text is well-formed.
bool is_utf8(std::string_view text);

/// "character 3, '!'" for a message about text[at]: counted from 1, and spelled as a byte where it
/// cannot be printed.
std::string describe_char(std::string_view text, std::size_t at);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/utf8.h"

#include <fmt/format.h>

namespace moiety::data {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

Utf8Char utf8_char(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  const Utf8Char malformed{lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < bytes) return malformed;
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xC0) != 0x80) return malformed;
    code = (code << 6) | (next & 0x3F);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return malformed;
  return {code, bytes, true};
}

std::string to_utf8(char32_t code) {
  const auto continuation = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), continuation(0)};
  if (code < 0x10000) {
    return {static_cast<char>(0xE0 | (code >> 12)), continuation(6), continuation(0)};
  }
  return {static_cast<char>(0xF0 | (code >> 18)), continuation(12), continuation(6),
          continuation(0)};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_char(text, at);
    if (!c.valid) return false;
    at += c.bytes;
  }
  return true;
}

std::string describe_char(std::string_view text, std::size_t at) {
  std::size_t number = 1;
  for (std::size_t i = 0; i < at; i += utf8_char(text, i).bytes) ++number;
  const Utf8Char c = utf8_char(text, at);
  const bool printable = c.valid && c.code >= 0x20 && c.code != 0x7F;
  const std::string spelled = printable ? fmt::format("'{}'", text.substr(at, c.bytes))
                                        : fmt::format("byte 0x{:02x}", byte_at(text, at));
  return fmt::format("character {}, {}", number, spelled);
}

}  // namespace moiety::data

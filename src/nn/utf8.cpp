// SPDX-License-Identifier: Apache-2.0
#include "nn/utf8.h"

#include <bit>
#include <cstddef>

namespace moiety::nn {
namespace {

/// Bytes of the sequence that begins with `first`; 0 when none does.
std::size_t sequence_length(unsigned char first) {
  const int ones = std::countl_one(first);
  if (ones == 0) return 1;
  return ones >= 2 && ones <= 4 ? static_cast<std::size_t>(ones) : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(first);
    if (length == 0 || length > text.size() - at) return false;
    char32_t point = length == 1 ? first : first & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      if ((byte & 0xC0) != 0x80) return false;
      point = point << 6 | (byte & 0x3f);
    }
    if (point < kSmallest[length] || point > 0x10FFFF) return false;
    if (point >= 0xD800 && point <= 0xDFFF) return false;
    at += length;
  }
  return true;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto continuation = [&](int shift) {
    out += static_cast<char>(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | (code_point >> 6));
    continuation(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | (code_point >> 12));
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xF0 | (code_point >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace moiety::nn

// SPDX-License-Identifier: Apache-2.0
#include "data/byte_level.h"

#include <array>
#include <cstddef>
#include <unordered_map>

#include "data/unicode_class.h"
#include "data/utf8.h"

namespace moiety::data {
namespace {

struct ByteSymbols {
  std::array<std::string, 256> symbols;
  std::unordered_map<char32_t, char> bytes;

  ByteSymbols() {
    char32_t substitute = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable =
          (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte < 0x100 && byte != 0xAD);
      const char32_t code = printable ? byte : substitute++;
      symbols[byte] = to_utf8(code);
      bytes[code] = static_cast<char>(byte);
    }
  }
};

const ByteSymbols& byte_symbols() {
  static const ByteSymbols table;
  return table;
}

CharClass class_at(std::string_view text, std::size_t at) {
  const Utf8Char c = utf8_char(text, at);
  return c.valid ? char_class(c.code) : CharClass::other;
}

/// Where the run of characters of one class that begins at text[at] ends.
std::size_t run_end(std::string_view text, std::size_t at, CharClass kind) {
  while (at < text.size() && class_at(text, at) == kind) at += utf8_char(text, at).bytes;
  return at;
}

/// The length of 's and its kin, 0 where text[at] begins none.
std::size_t ending_length(std::string_view text, std::size_t at) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.substr(at).starts_with(ending)) return ending.size();
  }
  return 0;
}

/// The end of the white space at text[at], the last of it left to the word that follows.
std::size_t space_end(std::string_view text, std::size_t at) {
  std::size_t last = at;
  std::size_t end = at;
  while (end < text.size() && class_at(text, end) == CharClass::space) {
    last = end;
    end += utf8_char(text, end).bytes;
  }
  return end < text.size() && last > at ? last : end;
}

std::size_t piece_end(std::string_view text, std::size_t at) {
  if (const std::size_t ending = ending_length(text, at)) return at + ending;
  const std::size_t word = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
  const CharClass kind = class_at(text, word);
  return kind == CharClass::space ? space_end(text, at) : run_end(text, word, kind);
}

}  // namespace

const std::string& byte_symbol(unsigned char byte) { return byte_symbols().symbols[byte]; }

std::optional<std::string> symbol_bytes(std::string_view token) {
  std::string out;
  for (std::size_t at = 0; at < token.size();) {
    const Utf8Char c = utf8_char(token, at);
    const auto found = byte_symbols().bytes.find(c.code);
    if (!c.valid || found == byte_symbols().bytes.end()) return std::nullopt;
    out += found->second;
    at += c.bytes;
  }
  return out;
}

std::vector<std::string_view> gpt2_pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = piece_end(text, at);
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/smiles_tokens.h"

#include <string>

#include "data/utf8.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

constexpr std::string_view kOneCharacter = "BCNOSPFIbcnosp().=#-+\\/:~@?*$>0123456789";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t bracket_length(std::string_view text, std::size_t at) {
  const std::size_t close = text.find(']', at);
  const bool empty = close == at + 1;
  return close == std::string_view::npos || empty ? 0 : close + 1 - at;
}

std::string_view reason(char c) {
  if (c == '[') return ": a bracket atom is empty or not closed";
  if (c == '%') return ": two digits must follow";
  return "";
}

}  // namespace

std::size_t smiles_token_length(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '[') return bracket_length(text, at);
  if (c == '%') return is_digit(next) && at + 2 < text.size() && is_digit(text[at + 2]) ? 3 : 0;
  if ((c == 'B' && next == 'r') || (c == 'C' && next == 'l') || (c == '>' && next == '>')) return 2;
  return kOneCharacter.find(c) == std::string_view::npos ? 0 : 1;
}

std::vector<std::string_view> smiles_tokens(std::string_view text, std::size_t at) {
  std::vector<std::string_view> tokens;
  tokens.reserve(text.size() - at);
  while (at < text.size()) {
    const std::size_t length = smiles_token_length(text, at);
    if (length == 0) {
      throw UserError(
          concat(describe_char(text, at), ", begins no SMILES token", reason(text[at])));
    }
    tokens.push_back(text.substr(at, length));
    at += length;
  }
  return tokens;
}

}  // namespace moiety::data

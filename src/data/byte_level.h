// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moiety::data {

/// The printable character, in UTF-8, that stands for a byte in the vocabularies of GPT-2 (Radford
/// et al. 2019) and RoBERTa: itself where it is printable Latin-1, another above U+00FF otherwise.
const std::string& byte_symbol(unsigned char byte);

/// The bytes that a token of such symbols stands for; nothing where it holds another character.
std::optional<std::string> symbol_bytes(std::string_view token);

/// A text cut as GPT-2 does before it merges bytes: runs of letters, numbers or anything else, each
/// with the blank before it, the endings 's 't 're 've 'm 'll 'd, and white space. The pieces
/// together are the whole text; bytes that are no UTF-8 count as anything else.
std::vector<std::string_view> gpt2_pieces(std::string_view text);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace moiety::data {

/// The length of the SMILES token that begins at text[at], which must exist; 0 where none does. The
/// tokens are those of the regular expression of Schwaller et al. ("Molecular Transformer", ACS
/// Central Science 5, 1572, 2019): a bracket atom [...], Br, Cl, one of BCNOSPFIbcnosp, a bond, a
/// branch, a ring closure as one digit or % and two, and . ~ @ ? * $ > >>.
std::size_t smiles_token_length(std::string_view text, std::size_t at);

/// The tokens of text[at..], in order: views into the text that together are the whole of it.
/// Throws UserError naming the first character that begins no token.
std::vector<std::string_view> smiles_tokens(std::string_view text, std::size_t at = 0);

}  // namespace moiety::data

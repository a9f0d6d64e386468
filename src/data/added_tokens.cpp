// SPDX-License-Identifier: Apache-2.0
#include "data/added_tokens.h"

#include <algorithm>

namespace moiety::data {

AddedTokens::AddedTokens(const TokenVocabulary& vocabulary) {
  std::vector<std::int32_t> ids = vocabulary.added();
  const auto mask = vocabulary.id(TokenRole::mask);
  if (mask && !vocabulary.is_added(*mask)) ids.push_back(*mask);
  for (const std::int32_t id : ids) {
    const std::string& text = vocabulary.token(id);
    if (text.empty() || vocabulary.is_control(id)) continue;
    tokens_[static_cast<unsigned char>(text.front())].push_back({text, id});
  }
  for (auto& list : tokens_) {
    std::ranges::sort(list,
                      [](const Token& a, const Token& b) { return a.text.size() > b.text.size(); });
  }
}

std::optional<AddedTokens::Found> AddedTokens::next(std::string_view text, std::size_t at) const {
  for (; at < text.size(); ++at) {
    for (const Token& token : tokens_[static_cast<unsigned char>(text[at])]) {
      if (text.substr(at).starts_with(token.text)) return Found{at, token.text.size(), token.id};
    }
  }
  return std::nullopt;
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/token_vocabulary.h"

#include <algorithm>
#include <utility>

#include "tensor/error.h"

namespace moiety::data {

std::string_view name_of(TokenRole role) {
  switch (role) {
    case TokenRole::pad:
      return "pad";
    case TokenRole::mask:
      return "mask";
    case TokenRole::begin:
      return "begin";
    case TokenRole::end:
      return "end";
    case TokenRole::unknown:
      return "unknown";
  }
  return "";
}

std::optional<std::int32_t> TokenVocabulary::add(std::string token) {
  const auto id = static_cast<std::int32_t>(tokens_.size());
  if (!ids_.emplace(token, id).second) return std::nullopt;
  tokens_.push_back(std::move(token));
  is_added_.push_back(false);
  return id;
}

void TokenVocabulary::set_role(TokenRole role, std::int32_t id) {
  roles_[static_cast<std::size_t>(role)] = id;
}

void TokenVocabulary::set_added(std::int32_t id) {
  if (is_added(id)) return;
  is_added_[static_cast<std::size_t>(id)] = true;
  added_.push_back(id);
}

const std::string& TokenVocabulary::token(std::int32_t id) const {
  check<UserError>(id >= 0 && id < size(), "there is no token ", id, " in a vocabulary of ",
                   size());
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> TokenVocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int32_t> TokenVocabulary::id(TokenRole role) const {
  return roles_[static_cast<std::size_t>(role)];
}

bool TokenVocabulary::is_control(std::int32_t id) const {
  return std::ranges::any_of(
      kTokenRoles, [&](TokenRole role) { return role != TokenRole::mask && this->id(role) == id; });
}

bool TokenVocabulary::is_added(std::int32_t id) const {
  return is_added_[static_cast<std::size_t>(id)];
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace moiety::data {

/// What a special token is for: to fill up a batch, to hide a token that is to be guessed, to stand
/// before and behind a text, and for what the vocabulary does not have.
enum class TokenRole { pad, mask, begin, end, unknown };

constexpr std::array kTokenRoles = {TokenRole::pad, TokenRole::mask, TokenRole::begin,
                                    TokenRole::end, TokenRole::unknown};

/// "pad", "mask", ...: for messages.
std::string_view name_of(TokenRole role);

/// Tokens with their ids 0, 1, 2, ..., some of them special.
class TokenVocabulary {
 public:
  /// Appends a token and returns its id; nothing where the vocabulary has it already.
  std::optional<std::int32_t> add(std::string token);
  /// Lets the token of that id play the role.
  void set_role(TokenRole role, std::int32_t id);
  /// Makes a token one that is cut out of a text before anything else looks at it.
  void set_added(std::int32_t id);

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// Throws UserError for an id that the vocabulary does not have.
  const std::string& token(std::int32_t id) const;
  std::optional<std::int32_t> find(std::string_view token) const;

  /// The id of the token that plays the role, if there is one.
  std::optional<std::int32_t> id(TokenRole role) const;
  /// True for the pad, begin, end and unknown tokens: no text can spell them.
  bool is_control(std::int32_t id) const;
  bool is_added(std::int32_t id) const;
  /// Ids of the added tokens, in the order in which they were made so.
  const std::vector<std::int32_t>& added() const { return added_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::array<std::optional<std::int32_t>, kTokenRoles.size()> roles_;
  std::vector<std::int32_t> added_;
  std::vector<bool> is_added_;  ///< [size]
};

}  // namespace moiety::data

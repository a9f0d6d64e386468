// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/token_vocabulary.h"

namespace moiety::data {

/// Finds added tokens and the mask token in texts.
class AddedTokens {
 public:
  struct Found {
    std::size_t at;
    std::size_t length;
    std::int32_t id;
  };

  explicit AddedTokens(const TokenVocabulary& vocabulary);

  /// The first of them in text[at..], the longest where several begin there.
  std::optional<Found> next(std::string_view text, std::size_t at) const;

 private:
  struct Token {
    std::string text;
    std::int32_t id;
  };
  /// By first byte, the longest first.
  std::array<std::vector<Token>, 256> tokens_;
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace moiety::data {

/// Two neighbouring tokens.
using TokenPair = std::pair<std::int32_t, std::int32_t>;

struct TokenPairHash {
  std::size_t operator()(const TokenPair& pair) const {
    const auto left = static_cast<std::uint64_t>(pair.first);
    const auto bits = (left << 32) | static_cast<std::uint32_t>(pair.second);
    return static_cast<std::size_t>(bits * 0x9E3779B97F4A7C15u >> 16);
  }
};

/// The merges of a byte-pair encoding (Sennrich et al. 2016), the earlier the stronger.
class BpeMerges {
 public:
  struct Merge {
    TokenPair pair;
    std::int32_t result;
  };

  /// Takes the next merge; false where the pair has one already.
  bool add(TokenPair pair, std::int32_t result);
  /// All of them in the order in which they were added.
  const std::vector<Merge>& list() const { return list_; }

  /// Merges neighbours until none is left to merge: always the pair of the lowest rank, the
  /// leftmost of several. Takes n log n steps for n tokens.
  void apply(std::vector<std::int32_t>& tokens) const;

 private:
  std::vector<Merge> list_;
  std::unordered_map<TokenPair, std::size_t, TokenPairHash> ranks_;
};

}  // namespace moiety::data

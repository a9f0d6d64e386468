// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/token_vocabulary.h"
#include "tensor/rng.h"

namespace moiety::data {

/// The shares of Devlin et al., "BERT", NAACL 2019.
struct MaskingOptions {
  double probability = 0.15;  ///< that a token is to be guessed
  double masked_share = 0.8;  ///< of these, become the mask token
  double random_share = 0.1;  ///< become any token that is not special; the rest stay
};

/// Hides tokens for a masked language model.
class Masking {
 public:
  /// Throws UserError for shares that are none, and for a vocabulary without a mask token or with
  /// special tokens alone.
  explicit Masking(const TokenVocabulary& vocabulary, const MaskingOptions& options = {});

  /// Draws which tokens of one sequence are to be guessed: special ones never are, and where chance
  /// chooses none one is chosen all the same. Hides them in `tokens` and appends a label a token:
  /// the id that it had, or -1 where nothing is to be guessed.
  void apply(std::span<std::int32_t> tokens, RngKey key, std::vector<std::int32_t>& labels) const;

 private:
  bool is_special(std::int32_t id) const;
  /// A token that is not special, by 64 random bits.
  std::int32_t random_token(std::uint32_t high, std::uint32_t low) const;

  MaskingOptions options_;
  std::int32_t mask_ = 0;
  std::int64_t vocabulary_ = 0;
  std::vector<std::int32_t> special_;  ///< ascending
};

}  // namespace moiety::data

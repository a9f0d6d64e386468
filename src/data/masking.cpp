// SPDX-License-Identifier: Apache-2.0
#include "data/masking.h"

#include <algorithm>

#include "tensor/error.h"

namespace moiety::data {
namespace {

/// Words of the stream that a token takes: whether, what becomes of it, and 64 bits to choose by.
enum Word : std::size_t { kWhether, kWhat, kHigh, kLow };

double uniform(std::uint32_t word) { return static_cast<double>(word) * 0x1p-32; }

std::uint64_t scaled(std::uint32_t high, std::uint32_t low, std::uint64_t bound) {
  const std::uint64_t bits = (std::uint64_t{high} << 32) | low;
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

}  // namespace

Masking::Masking(const TokenVocabulary& vocabulary, const MaskingOptions& options)
    : options_(options), vocabulary_(vocabulary.size()) {
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  check<UserError>(options.probability > 0 && is_share(options.probability) &&
                       is_share(options.masked_share) && is_share(options.random_share) &&
                       options.masked_share + options.random_share <= 1,
                   "masking: a probability of ", options.probability, " with shares ",
                   options.masked_share, " and ", options.random_share, " is not possible");
  const auto mask = vocabulary.id(TokenRole::mask);
  check<UserError>(mask.has_value(),
                   "the tokenizer has no mask token, which a masked language model needs");
  mask_ = *mask;
  for (const TokenRole role : kTokenRoles) {
    if (const auto id = vocabulary.id(role)) special_.push_back(*id);
  }
  std::ranges::sort(special_);
  const auto same = std::ranges::unique(special_);
  special_.erase(same.begin(), same.end());
  check<UserError>(std::ssize(special_) < vocabulary_, "all ", vocabulary_,
                   " tokens of the vocabulary are special: there is nothing to guess");
}

bool Masking::is_special(std::int32_t id) const {
  return std::ranges::find(special_, id) != special_.end();
}

std::int32_t Masking::random_token(std::uint32_t high, std::uint32_t low) const {
  const auto others = static_cast<std::uint64_t>(vocabulary_ - std::ssize(special_));
  auto id = static_cast<std::int32_t>(scaled(high, low, others));
  for (const std::int32_t special : special_) id += id >= special;
  return id;
}

void Masking::apply(std::span<std::int32_t> tokens, RngKey key,
                    std::vector<std::int32_t>& labels) const {
  const std::size_t first_label = labels.size();
  const auto hide = [&](std::size_t t) {
    const auto words = philox(key, t);
    labels[first_label + t] = tokens[t];
    const double what = uniform(words[kWhat]);
    if (what < options_.masked_share) {
      tokens[t] = mask_;
    } else if (what < options_.masked_share + options_.random_share) {
      tokens[t] = random_token(words[kHigh], words[kLow]);
    }
  };
  labels.resize(first_label + tokens.size(), -1);
  std::vector<std::size_t> ordinary;
  bool any = false;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (is_special(tokens[t])) continue;
    ordinary.push_back(t);
    if (uniform(philox(key, t)[kWhether]) < options_.probability) {
      any = true;
      hide(t);
    }
  }
  if (any || ordinary.empty()) return;
  hide(ordinary[static_cast<std::size_t>(random_below(key, tokens.size(), ordinary.size()))]);
}

}  // namespace moiety::data

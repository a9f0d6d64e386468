// SPDX-License-Identifier: Apache-2.0
#include "data/bpe_merges.h"

#include <functional>
#include <queue>

namespace moiety::data {
namespace {

constexpr std::int32_t kGone = -1;

/// A pair that may be merged: compared by rank, then place.
using Candidate = std::pair<std::size_t, std::size_t>;

}  // namespace

bool BpeMerges::add(TokenPair pair, std::int32_t result) {
  if (!ranks_.emplace(pair, list_.size()).second) return false;
  list_.push_back({pair, result});
  return true;
}

void BpeMerges::apply(std::vector<std::int32_t>& tokens) const {
  const std::size_t count = tokens.size();
  std::vector<std::size_t> next(count);
  std::vector<std::size_t> previous(count);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::size_t left) {
    if (next[left] == count) return;
    const auto found = ranks_.find({tokens[left], tokens[next[left]]});
    if (found != ranks_.end()) queue.emplace(found->second, left);
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? count : i - 1;
  }
  for (std::size_t i = 0; i < count; ++i) offer(i);

  while (!queue.empty()) {
    const auto [rank, left] = queue.top();
    queue.pop();
    const std::size_t right = next[left];
    // A candidate is out of date when one of its tokens has been merged since.
    if (tokens[left] == kGone || right == count ||
        TokenPair(tokens[left], tokens[right]) != list_[rank].pair) {
      continue;
    }
    tokens[left] = list_[rank].result;
    tokens[right] = kGone;
    next[left] = next[right];
    if (next[left] != count) previous[next[left]] = left;
    if (previous[left] != count) offer(previous[left]);
    offer(left);
  }
  std::erase(tokens, kGone);
}

}  // namespace moiety::data

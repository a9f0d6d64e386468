// SPDX-License-Identifier: Apache-2.0
#include "data/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/byte_level.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// A distinct piece of the texts, as tokens.
struct Word {
  std::vector<std::int32_t> tokens;
  std::int64_t count;
};

/// How often two tokens are neighbours, and in which words they are or were.
struct PairUse {
  std::int64_t count = 0;
  std::vector<std::size_t> words;
};

/// A pair with its count when it was queued. The most frequent first, then the smaller ids.
struct Candidate {
  std::int64_t count;
  TokenPair pair;

  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

/// Words whose most frequent pair is merged again and again. A merge changes the counts around the
/// places where it happens alone, so each costs what it changes.
class PairCounts {
 public:
  explicit PairCounts(std::vector<Word> words) : words_(std::move(words)) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const auto& tokens = words_[w].tokens;
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i) change({tokens[i], tokens[i + 1]}, 1, w);
    }
    queue_grown();
  }

  /// Takes the most frequent pair out; nothing where none occurs.
  std::optional<Candidate> pop() {
    while (!queue_.empty()) {
      Candidate top = queue_.top();
      queue_.pop();
      const auto use = uses_.find(top.pair);
      if (use == uses_.end() || use->second.count < 1) continue;
      if (use->second.count == top.count) return top;
      top.count = use->second.count;
      queue_.push(top);
    }
    return std::nullopt;
  }

  void merge(TokenPair pair, std::int32_t result) {
    const std::vector<std::size_t> words = std::move(uses_[pair].words);
    for (const std::size_t w : words) merge_in_word(w, pair, result);
    uses_.erase(pair);
    queue_grown();
  }

 private:
  void merge_in_word(std::size_t w, TokenPair pair, std::int32_t result) {
    auto& tokens = words_[w].tokens;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool found = i + 1 < tokens.size() && TokenPair(tokens[i], tokens[i + 1]) == pair;
      if (found) {
        if (kept > 0) {
          change({tokens[kept - 1], pair.first}, -1, w);
          change({tokens[kept - 1], result}, 1, w);
        }
        if (i + 2 < tokens.size()) {
          change({pair.second, tokens[i + 2]}, -1, w);
          change({result, tokens[i + 2]}, 1, w);
        }
        ++i;
      }
      tokens[kept++] = found ? result : tokens[i];
    }
    tokens.resize(kept);
  }

  void change(TokenPair pair, int by, std::size_t w) {
    PairUse& use = uses_[pair];
    use.count += by * words_[w].count;
    if (by < 0) return;
    if (use.words.empty() || use.words.back() != w) use.words.push_back(w);
    grown_.push_back(pair);
  }

  void queue_grown() {
    std::ranges::sort(grown_);
    const auto repeated = std::ranges::unique(grown_);
    grown_.erase(repeated.begin(), repeated.end());
    for (const TokenPair& pair : grown_) {
      const auto use = uses_.find(pair);
      if (use != uses_.end() && use->second.count > 0) queue_.push({use->second.count, pair});
    }
    grown_.clear();
  }

  std::vector<Word> words_;
  std::unordered_map<TokenPair, PairUse, TokenPairHash> uses_;
  std::priority_queue<Candidate> queue_;
  std::vector<TokenPair> grown_;  ///< pairs that became more frequent since the last queue_grown()
};

/// RoBERTa's special tokens, then the bytes in the order of their symbols, as HuggingFace's trainer
/// has them.
TokenVocabulary initial_vocabulary() {
  TokenVocabulary vocabulary;
  using Special = std::pair<const char*, TokenRole>;
  for (const auto& [token, role] :
       {Special{"<s>", TokenRole::begin}, Special{"<pad>", TokenRole::pad},
        Special{"</s>", TokenRole::end}, Special{"<unk>", TokenRole::unknown},
        Special{"<mask>", TokenRole::mask}}) {
    vocabulary.set_role(role, vocabulary.add(token).value());
  }
  std::array<std::string, 256> symbols;
  for (std::size_t byte = 0; byte < symbols.size(); ++byte) {
    symbols[byte] = byte_symbol(static_cast<unsigned char>(byte));
  }
  std::ranges::sort(symbols);  // the bytes of UTF-8 sort as its code points do
  for (const std::string& symbol : symbols) vocabulary.add(symbol);
  return vocabulary;
}

}  // namespace

void BpeTrainer::add(std::string_view text) {
  for (const std::string_view piece : gpt2_pieces(text)) {
    const auto found = counts_.find(piece);
    if (found == counts_.end()) {
      counts_.emplace(piece, 1);
    } else {
      ++found->second;
    }
  }
}

std::unique_ptr<ByteBpeTokenizer> BpeTrainer::train(const Limits& limits) const {
  check<UserError>(limits.size >= kSmallestSize, "a vocabulary of ", limits.size,
                   " is too small: the bytes and the special tokens alone are ", kSmallestSize);
  TokenVocabulary vocabulary = initial_vocabulary();
  std::vector<Word> words;
  for (const auto& [piece, count] : counts_) {
    Word word{{}, count};
    for (const char byte : piece) {
      word.tokens.push_back(*vocabulary.find(byte_symbol(static_cast<unsigned char>(byte))));
    }
    words.push_back(std::move(word));
  }
  PairCounts pairs(std::move(words));
  BpeMerges merges;
  // No piece spells a special token: each of those mixes letters with others.
  while (vocabulary.size() < limits.size) {
    const auto best = pairs.pop();
    if (!best || best->count < limits.min_frequency) break;
    const auto [left, right] = best->pair;
    const std::string token = vocabulary.token(left) + vocabulary.token(right);
    const auto known = vocabulary.find(token);
    const std::int32_t id = known ? *known : vocabulary.add(token).value();
    pairs.merge(best->pair, id);
    merges.add(best->pair, id);
  }
  return std::make_unique<ByteBpeTokenizer>(std::move(vocabulary), merges);
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "data/byte_bpe_tokenizer.h"

namespace moiety::data {

/// Learns a byte-level BPE vocabulary from texts: RoBERTa's five special tokens, the 256 bytes, and
/// the most frequent pairs of neighbours merged one after the other. Equal to what HuggingFace's
/// ByteLevelBPETokenizer learns; ties go to the pair of the smaller ids.
class BpeTrainer {
 public:
  struct Limits {
    std::int64_t size = 600;         ///< tokens at most
    std::int64_t min_frequency = 2;  ///< rarer pairs are not merged
  };
  static constexpr std::int64_t kSmallestSize = 256 + 5;

  /// Counts the pieces of a text; their memory is that of the different ones.
  void add(std::string_view text);
  /// Throws UserError for a size below kSmallestSize.
  std::unique_ptr<ByteBpeTokenizer> train(const Limits& limits) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> counts_;
};

}  // namespace moiety::data

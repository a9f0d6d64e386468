// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace moiety::apps {

/// What a tokenizer is learned from, and how.
struct TokenizerTraining {
  std::vector<std::filesystem::path> sources;
  std::string smiles_column;  ///< "" guesses it
  std::string kind;           ///< smiles or bpe
  std::int64_t size = 0;      ///< tokens at most; 0 takes the kind's own
  std::int64_t min_frequency = 0;
  std::int64_t random = 0;  ///< random SMILES of each molecule that are learned from as well
  std::uint64_t seed = 0;
};

/// Texts that something is amiss with.
struct TextProblems {
  std::int64_t count = 0;
  std::string first;  ///< "file:line: why"
};

struct TokenizerReport {
  std::int64_t vocabulary = 0;
  std::int64_t texts = 0;
  std::int64_t tokens = 0;  ///< of all texts, begin and end left out
  TextProblems left_out;    ///< rows that could not be read
  TextProblems not_back;    ///< texts that do not come back from their ids
};

/// Learns a tokenizer, saves it into the folder, and encodes every text with it to see whether it
/// comes back. `progress` hears how far it is, in [0, 1]. Throws UserError for an unknown kind and
/// for sources without a text.
TokenizerReport train_tokenizer(const TokenizerTraining& training,
                                const std::filesystem::path& folder,
                                const std::function<void(double)>& progress);

}  // namespace moiety::apps

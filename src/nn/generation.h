// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "nn/sampling.h"
#include "nn/sequence_models.h"

namespace moiety::nn {

using TokenSequence = std::vector<std::int32_t>;

struct GenerationOptions {
  SamplingRule sampling = {};
  std::uint64_t seed = 0;
  std::int64_t max_length = 0;  ///< tokens of a sequence with its prompt; 0: the model's most
  std::optional<std::int32_t> end_token = {};  ///< a sequence that draws it ends with it
  /// Sequences at a time at most, which memory grows with; 0: as many as keep the device busy. They
  /// are computed in groups of generation_rows(), to which this is rounded up.
  std::int64_t batch_size = 0;
};

/// Sequences that go through a model together, of so many in all. A fixed number on a CPU, one of
/// two on a GPU, since products of another size may round otherwise.
std::int64_t generation_rows(const Device& device, std::int64_t count);

/// Goes on with each prompt, a token at a time, until it ends or is as long as it may be. What is
/// drawn at place t of sequence i depends on the seed, i and t alone: neither batch size nor
/// threads change a text. On a GPU the number of sequences may, where products round otherwise.
/// `on_progress`, where given, hears now and then how many sequences are
/// done, from one thread at a time. Throws UserError for an empty prompt, or one that is longer
/// than the model takes.
std::vector<TokenSequence> generate(const CausalLanguageModel& model,
                                    std::span<const TokenSequence> prompts,
                                    const GenerationOptions& options,
                                    const std::function<void(std::int64_t)>& on_progress = {});

}  // namespace moiety::nn

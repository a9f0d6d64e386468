// SPDX-License-Identifier: Apache-2.0
#include "apps/token_input.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "data/convert.h"
#include "data/tokenizer_record.h"
#include "nn/recorded_step.h"

namespace moiety::apps {
namespace {

/// Of the masks in validation and prediction, whatever the recipe: scores of runs compare.
constexpr std::uint64_t kJudgingSeed = 0;

}  // namespace

TokenInput::TokenInput(const ModelSpec& spec)
    : max_length_(spec.transformer.max_length),
      too_long_(spec.too_long),
      mask_probability_(spec.mask_probability),
      tokenizer_(data::tokenizer_from_json(spec.tokenizer, "the model's tokenizer")) {}

data::SequenceBatching TokenInput::batching(data::SequenceBatching::Objective objective) const {
  data::SequenceBatching out;
  out.objective = objective;
  out.tokenizer = tokenizer_;
  out.masking.probability = mask_probability_;
  out.seed = kJudgingSeed;
  out.max_length = max_length_;
  return out;
}

data::SequenceBatching TokenInput::batching(data::SequenceBatching::Objective objective,
                                            const Recipe& recipe) const {
  data::SequenceBatching out = batching(objective);
  out.seed = static_cast<std::uint64_t>(recipe.train.seed);
  out.random_smiles = recipe.data.augment == "random_smiles";
  return out;
}

std::vector<std::int64_t> TokenInput::rows_that_fit(const data::Dataset& dataset,
                                                    std::span<const std::int64_t> rows) const {
  return data::rows_that_fit(dataset, rows, max_length_, too_long_);
}

std::string TokenInput::problem_of_length(std::int64_t tokens) const {
  if (tokens <= max_length_ || too_long_ == data::TooLong::truncate) return "";
  return concat("it has ", tokens, " tokens, and the model takes at most ", max_length_);
}

TokenText TokenInput::encode(const data::SourceRow& row) const {
  const data::ConvertedRow converted = data::convert_row(row, {.targets = {}, .graphs = false});
  if (!converted.molecule) return {{}, converted.rejection.reason};
  try {
    data::Encoded encoded = tokenizer_->encode(converted.molecule->smiles);
    std::string problem = problem_of_length(std::ssize(encoded.ids));
    if (encoded.ids.empty()) problem = "it has no tokens";
    return {std::move(encoded.ids), std::move(problem)};
  } catch (const UserError& error) {
    return {{}, error.what()};
  }
}

TokenTexts TokenInput::encode(std::span<const data::SourceRow> rows, Device& device) const {
  std::vector<TokenText> texts(rows.size());
  device.host().stream().pool().run(std::ssize(rows), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    texts[at] = encode(rows[at]);
  });
  TokenTexts out;
  for (TokenText& text : texts) {
    if (text.problem.empty()) out.sequences.push_back(std::move(text.ids));
    out.problems.push_back(std::move(text.problem));
  }
  return out;
}

std::int64_t tokens_per_training_part(const Device& device) {
  return device.is_cuda() ? 0 : kTokensPerPart;
}

std::int64_t tokens_per_part(const Device& device, std::int64_t outputs) {
  const std::int64_t most = device.is_cuda() ? 32768 : 1024;
  const std::int64_t numbers = device.is_cuda() ? std::int64_t{1} << 27 : std::int64_t{1} << 22;
  return std::clamp<std::int64_t>(numbers / outputs, 64, most);
}

PackedBatch pack_for_step(const TokenBatch& batch, std::int64_t max_length, Device& device) {
  return pack(batch, padded_size(batch, max_length), sizeof(nn::StepNumbers), device.staging());
}

std::vector<TokenBatch> join_sequences(std::vector<data::LoadedBatch> batches) {
  std::vector<TokenBatch> parts;
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;
  std::int64_t scored = 0;
  for (data::LoadedBatch& batch : batches) {
    for (TokenBatch& part : batch.sequences) {
      part.first_token += tokens;
      part.first_sequence += sequences;
      part.first_scored += scored;
    }
    std::ranges::move(batch.sequences, std::back_inserter(parts));
    tokens = parts.back().first_token + parts.back().token_count();
    sequences = parts.back().first_sequence + parts.back().sequences();
    const RowChoice& last = parts.back().scored;
    scored = parts.back().first_scored + (last.defined() ? last.rows() : 0);
  }
  return parts;
}

}  // namespace moiety::apps

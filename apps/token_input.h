// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/model_spec.h"
#include "data/loader.h"
#include "data/row_source.h"
#include "data/token_collate.h"
#include "data/tokenizer.h"

namespace moiety::apps {

/// A molecule as a model of tokens reads it, or why it cannot.
struct TokenText {
  std::vector<std::int32_t> ids;
  std::string problem;  ///< "" where there is none
};

/// Those of several rows: the tokens of the rows without a problem, and the problem of each row.
struct TokenTexts {
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::string> problems;
};

/// How molecules become the token sequences of a model.
class TokenInput {
 public:
  /// Throws IoError where the description's tokenizer cannot be read.
  explicit TokenInput(const ModelSpec& spec);

  const std::shared_ptr<const data::Tokenizer>& tokenizer() const { return tokenizer_; }

  /// Batches in which an objective scores tokens. The seed is that of judging: masks never change.
  data::SequenceBatching batching(data::SequenceBatching::Objective objective) const;
  /// The same for training: masks and random SMILES as the recipe asks for them.
  data::SequenceBatching batching(data::SequenceBatching::Objective objective,
                                  const Recipe& recipe) const;

  /// Rows that the model takes. Throws UserError naming the first one that is too long, where the
  /// recipe did not say what to do with those.
  std::vector<std::int64_t> rows_that_fit(const data::Dataset& dataset,
                                          std::span<const std::int64_t> rows) const;
  /// Why the model does not take a sequence of so many tokens, "" where it does.
  std::string problem_of_length(std::int64_t tokens) const;
  /// Rows of a text, on the threads of the device's host.
  TokenTexts encode(std::span<const data::SourceRow> rows, Device& device) const;

 private:
  TokenText encode(const data::SourceRow& row) const;

  std::int64_t max_length_;
  data::TooLong too_long_;
  double mask_probability_;
  std::shared_ptr<const data::Tokenizer> tokenizer_;
};

/// Tokens of a part of a batch in training. On a CPU: enough rows for the dense products, few
/// enough that the activations of a layer stay in a core's cache. A GPU takes a batch as a whole:
/// 0. The cut never depends on the number of threads.
std::int64_t tokens_per_training_part(const Device& device);

/// Tokens of a part in prediction, of which a head gives `outputs` numbers each.
std::int64_t tokens_per_part(const Device& device, std::int64_t outputs);

/// A batch of tokens as a recorded step of a GPU takes it, for a model that takes up to
/// `max_length` tokens a sequence.
PackedBatch pack_for_step(const TokenBatch& batch, std::int64_t max_length, Device& device);

/// The parts of a step's batches, which form one larger batch: dropout must not repeat itself in
/// the second.
std::vector<TokenBatch> join_sequences(std::vector<data::LoadedBatch> batches);

}  // namespace moiety::apps

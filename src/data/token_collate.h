// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/masking.h"
#include "data/tokenizer.h"
#include "tensor/device.h"
#include "tensor/token_batch.h"

namespace moiety::data {

/// What batches of sequences are for, and how they are made.
struct SequenceBatching {
  enum class Objective : std::uint8_t {
    none,    ///< a head reads all tokens
    masked,  ///< hidden tokens are scored, their labels what they were
    causal,  ///< each token's label is the next one; the last of a sequence has none
    starts,  ///< a head reads the first token of each sequence
  };
  Objective objective = Objective::none;
  /// The data set's own; masks, random SMILES and cutting want it.
  std::shared_ptr<const Tokenizer> tokenizer = {};
  MaskingOptions masking = {};
  std::uint64_t seed = 0;       ///< of masks and random SMILES
  std::int64_t max_length = 0;  ///< longer sequences are cut, the end token kept; 0: none is
  bool random_smiles = false;   ///< another SMILES of each molecule, drawn anew in every epoch
};

/// The sequences of these rows of the data set, in their order, as parts of about `tokens_per_part`
/// tokens each, at least one sequence; 0 asks for one part. y [B, K] where there are targets.
/// Tensors are on `device`, a CPU. Masks and random SMILES depend on (seed, epoch, row) alone: use
/// one epoch number always where they must not change. A SMILES whose random form cannot be
/// encoded, has unknown tokens or is longer than max_length keeps its own.
///
/// Throws UserError where the data set has no tokens or the objective lacks what it needs,
/// ShapeError for a row out of range or too many tokens, IoError when the file has changed.
std::vector<TokenBatch> collate_tokens(const Dataset& dataset, std::span<const std::int64_t> rows,
                                       const SequenceBatching& batching, std::int64_t epoch,
                                       std::int64_t tokens_per_part, Device& device);

/// Likewise of sequences that are in no data set, without targets and as they are written: the
/// first counts as row `first_row`. Throws ShapeError for an empty one.
std::vector<TokenBatch> collate_tokens(std::vector<std::vector<std::int32_t>> sequences,
                                       std::int64_t first_row, const SequenceBatching& batching,
                                       std::int64_t epoch, std::int64_t tokens_per_part,
                                       Device& device);

/// What to do with sequences that are longer than a model allows.
enum class TooLong : std::uint8_t { error, truncate, skip };

/// Those of the rows that a model of `max_length` tokens takes: all but for `skip`. For `error`
/// throws UserError naming the first row that is longer, its length and the keys to change.
std::vector<std::int64_t> rows_that_fit(const Dataset& dataset, std::span<const std::int64_t> rows,
                                        std::int64_t max_length, TooLong too_long);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include "data/token_collate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "data/featurize.h"
#include "tensor/error.h"
#include "tensor/rng.h"

namespace moiety::data {
namespace {

using Objective = SequenceBatching::Objective;
using Ids = std::vector<std::int32_t>;

// Keep masks and random SMILES apart from random numbers of other purposes under the same seed.
constexpr std::uint64_t kMaskPurpose = 0x6D61736B;              // "mask"
constexpr std::uint64_t kRandomSmilesPurpose = 0x72616E646F6D;  // "random"

/// The stream of one row in one epoch.
RngKey row_key(std::uint64_t seed, std::uint64_t purpose, std::int64_t epoch, std::int64_t row) {
  const RngKey of_epoch = derive_key(seed, purpose, static_cast<std::uint64_t>(epoch));
  return derive_key(of_epoch.stream, purpose, static_cast<std::uint64_t>(row));
}

const Tokenizer& tokenizer_of(const SequenceBatching& batching, const char* what) {
  check<UserError>(batching.tokenizer != nullptr, what, " needs the tokenizer of the data set");
  return *batching.tokenizer;
}

/// The ids of a random SMILES of the same molecule, unless they cannot stand for it.
std::optional<Ids> random_form(const std::string& smiles, std::uint64_t seed,
                               const Tokenizer& tokenizer, std::int64_t max_length) {
  try {
    Encoded form = tokenizer.encode(Molecule(smiles).random_smiles(seed));
    const bool too_long = max_length > 0 && std::ssize(form.ids) > max_length;
    if (!form.unknown.empty() || too_long) return std::nullopt;
    return std::move(form.ids);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void randomise(const Dataset& dataset, std::span<const std::int64_t> rows,
               const SequenceBatching& batching, std::int64_t epoch, std::vector<Ids>& sequences) {
  const Tokenizer& tokenizer = tokenizer_of(batching, "random SMILES");
  const std::vector<std::string> smiles = dataset.smiles(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RngKey key = row_key(batching.seed, kRandomSmilesPurpose, epoch, rows[i]);
    auto form = random_form(smiles[i], key.stream, tokenizer, batching.max_length);
    if (form) sequences[i] = *std::move(form);
  }
}

void shorten(const SequenceBatching& batching, std::vector<Ids>& sequences) {
  check<UserError>(batching.max_length >= 0, "a maximal length of ", batching.max_length,
                   " tokens is not possible");
  if (batching.max_length == 0) return;
  for (Ids& ids : sequences) {
    if (std::ssize(ids) <= batching.max_length) continue;
    const auto end = tokenizer_of(batching, "cutting sequences").vocabulary().id(TokenRole::end);
    const bool ends = ids.back() == end;
    ids.resize(static_cast<std::size_t>(batching.max_length));
    if (ends) ids.back() = *end;
  }
}

/// Labels of all tokens where the objective gives them one; hides the tokens to guess.
Ids make_labels(const SequenceBatching& batching, std::int64_t epoch, const auto& row_of,
                std::vector<Ids>& sequences) {
  Ids labels;
  if (batching.objective == Objective::masked) {
    const Masking masking(tokenizer_of(batching, "masking").vocabulary(), batching.masking);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      masking.apply(sequences[i], row_key(batching.seed, kMaskPurpose, epoch, row_of(i)), labels);
    }
  } else if (batching.objective == Objective::causal) {
    for (const Ids& ids : sequences) {
      if (ids.empty()) continue;  // pack_tokens() refuses it
      labels.insert(labels.end(), ids.begin() + 1, ids.end());
      labels.push_back(-1);
    }
  }
  return labels;
}

std::vector<TokenBatch> cut(const TokenBatch& whole, std::int64_t tokens_per_part) {
  check<ShapeError>(tokens_per_part >= 0, "tokens_per_part must not be negative");
  if (tokens_per_part == 0) return {whole};
  return cut_by_tokens(whole, tokens_per_part);
}

/// `row_of(i)` is the row that sequence i counts as.
std::vector<TokenBatch> make_batches(std::vector<Ids> sequences, const auto& row_of,
                                     const std::vector<float>& y, const SequenceBatching& batching,
                                     std::int64_t epoch, std::int64_t tokens_per_part,
                                     Device& device) {
  check(!device.is_cuda(), "batches are made on a CPU and then copied to ", device.name());
  shorten(batching, sequences);
  const Ids labels = make_labels(batching, epoch, row_of, sequences);
  TokenBatch whole = pack_tokens(sequences, device);
  if (!y.empty()) {
    const std::int64_t count = std::ssize(sequences);
    whole.y = Tensor::from(y, {count, std::ssize(y) / count}, device);
  }
  if (batching.objective == Objective::starts) {
    score_starts(whole);
  } else if (batching.objective != Objective::none) {
    score_labelled(whole, labels);
  }
  return cut(whole, tokens_per_part);
}

}  // namespace

std::vector<TokenBatch> collate_tokens(const Dataset& dataset, std::span<const std::int64_t> rows,
                                       const SequenceBatching& batching, std::int64_t epoch,
                                       std::int64_t tokens_per_part, Device& device) {
  dataset.check_unchanged();
  std::vector<Ids> sequences;
  std::vector<float> y;
  for (const std::int64_t row : rows) {
    const auto ids = dataset.tokens(row);
    sequences.emplace_back(ids.begin(), ids.end());
    for (const double value : dataset.targets(row)) y.push_back(static_cast<float>(value));
  }
  if (batching.random_smiles) randomise(dataset, rows, batching, epoch, sequences);
  const auto row_of = [&](std::size_t i) { return rows[i]; };
  return make_batches(std::move(sequences), row_of, y, batching, epoch, tokens_per_part, device);
}

std::vector<TokenBatch> collate_tokens(std::vector<Ids> sequences, std::int64_t first_row,
                                       const SequenceBatching& batching, std::int64_t epoch,
                                       std::int64_t tokens_per_part, Device& device) {
  const auto row_of = [&](std::size_t i) { return first_row + static_cast<std::int64_t>(i); };
  return make_batches(std::move(sequences), row_of, {}, batching, epoch, tokens_per_part, device);
}

std::vector<std::int64_t> rows_that_fit(const Dataset& dataset, std::span<const std::int64_t> rows,
                                        std::int64_t max_length, TooLong too_long) {
  std::vector<std::int64_t> out;
  for (const std::int64_t row : rows) {
    const std::int64_t length = std::ssize(dataset.tokens(row));
    const bool fits = length <= max_length;
    check<UserError>(fits || too_long != TooLong::error, dataset.path(), ": molecule ", row,
                     " has ", length, " tokens, and the model takes ", max_length,
                     "; raise model.max_length, or set data.too_long to \"truncate\" or \"skip\"");
    if (fits || too_long == TooLong::truncate) out.push_back(row);
  }
  return out;
}

}  // namespace moiety::data

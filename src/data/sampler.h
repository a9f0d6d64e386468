// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace moiety::data {

/// How molecules become batches. Sizes are those of the whole step, summed over all ranks, so that
/// any number of ranks walks through the same steps. Either `batch_size`, or the budgets of graphs
/// together, or that of sequences is set.
struct SamplerOptions {
  std::int64_t batch_size = 0;    ///< molecules in a step
  std::int64_t node_budget = 0;   ///< at most so many atoms in a step
  std::int64_t edge_budget = 0;   ///< and at most so many directed edges
  std::int64_t token_budget = 0;  ///< at most so many tokens in a step
  std::int64_t max_length = 0;    ///< tokens of a sequence that count for the budget; 0: all
  bool shuffle = false;
  bool drop_last = false;  ///< leave out the last step of an epoch when it has < batch_size
  std::uint64_t seed = 0;
  int rank = 0;
  int world_size = 1;
};

/// A place in the sequence of batches: before step `step` of epoch `epoch`.
struct Cursor {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  bool operator==(const Cursor&) const = default;
};

/// The steps of one epoch, as one rank sees them. All ranks have the same number of steps.
class EpochPlan {
 public:
  std::int64_t steps() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  /// This rank's molecules of a step: its contiguous share of the step's molecules, sizes differing
  /// by at most one among ranks. Empty when a step has fewer molecules than there are ranks.
  std::span<const std::int64_t> batch(std::int64_t step) const;
  /// The molecules of a step over all ranks.
  std::span<const std::int64_t> global_batch(std::int64_t step) const;

 private:
  friend class Sampler;
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> begins_;  // [steps + 1] into order_
  int rank_ = 0;
  int world_size_ = 1;
};

/// Draws the batches of every epoch from (seed, epoch) alone: no state but the caller's cursor, so
/// training resumes in the middle of an epoch with the batches that it would have had.
class Sampler {
 public:
  /// `molecules` are rows of the data set, none twice. Throws UserError when there are none, when
  /// the options contradict each other or a single molecule exceeds a budget.
  Sampler(const Dataset& dataset, std::span<const std::int64_t> molecules,
          const SamplerOptions& options);

  EpochPlan plan(std::int64_t epoch) const;
  /// Steps of an epoch; the same for every epoch when batches go by count.
  std::int64_t steps(std::int64_t epoch) const;
  const SamplerOptions& options() const { return options_; }
  std::int64_t molecules() const { return static_cast<std::int64_t>(molecules_.size()); }

 private:
  std::vector<std::int64_t> shuffled(std::int64_t epoch) const;
  /// Of a molecule, in the order of the budgets.
  using Sizes = std::array<std::int64_t, 3>;
  Sizes sizes(std::int64_t molecule) const;
  bool within_budgets(const Sizes& sizes) const;
  void check_budgets() const;
  std::vector<std::int64_t> cut_by_count() const;
  std::vector<std::int64_t> cut_by_budget(std::span<const std::int64_t> order) const;

  Dataset dataset_;
  std::vector<std::int64_t> molecules_;
  SamplerOptions options_;
};

}  // namespace moiety::data

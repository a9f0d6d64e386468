// SPDX-License-Identifier: Apache-2.0
#include "data/sampler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tensor/error.h"
#include "tensor/rng.h"

namespace moiety::data {
namespace {

/// Keeps the shuffles' random numbers apart from those of other purposes under the same seed.
constexpr std::uint64_t kShufflePurpose = 0x7368756666;  // "shuff"

void check_options(const SamplerOptions& options) {
  const bool by_count = options.batch_size > 0;
  const bool by_graphs = options.node_budget > 0 && options.edge_budget > 0;
  const bool by_tokens = options.token_budget > 0;
  const bool sane = options.batch_size >= 0 && options.node_budget >= 0 &&
                    options.edge_budget >= 0 && options.token_budget >= 0 &&
                    options.max_length >= 0;
  const bool half = (options.node_budget > 0) != (options.edge_budget > 0);
  check<UserError>(sane && int{by_count} + int{by_graphs} + int{by_tokens} == 1 && !half,
                   "batches go either by batch_size, or by node_budget and edge_budget together, ",
                   "or by token_budget (here: ", options.batch_size, ", ", options.node_budget,
                   ", ", options.edge_budget, ", ", options.token_budget, ")");
  check<UserError>(by_count || !options.drop_last, "drop_last goes with batch_size only");
  check<UserError>(
      options.world_size >= 1 && options.rank >= 0 && options.rank < options.world_size, "rank ",
      options.rank, " of ", options.world_size, " ranks does not exist");
}

}  // namespace

std::span<const std::int64_t> EpochPlan::global_batch(std::int64_t step) const {
  check<ShapeError>(step >= 0 && step < steps(), "step ", step, " of ", steps());
  const auto s = static_cast<std::size_t>(step);
  return std::span(order_).subspan(static_cast<std::size_t>(begins_[s]),
                                   static_cast<std::size_t>(begins_[s + 1] - begins_[s]));
}

std::span<const std::int64_t> EpochPlan::batch(std::int64_t step) const {
  const auto all = global_batch(step);
  const std::int64_t count = std::ssize(all);
  const std::int64_t begin = count * rank_ / world_size_;
  const std::int64_t end = count * (rank_ + 1) / world_size_;
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

Sampler::Sampler(const Dataset& dataset, std::span<const std::int64_t> molecules,
                 const SamplerOptions& options)
    : dataset_(dataset), molecules_(molecules.begin(), molecules.end()), options_(options) {
  check_options(options);
  check<UserError>(!molecules_.empty(), dataset.path(),
                   ": there are no molecules to sample from: the split is empty");
  check<UserError>(!options.drop_last || this->molecules() >= options.batch_size, dataset.path(),
                   ": drop_last with batch_size ", options.batch_size, " drops all ",
                   this->molecules(), " molecules; lower batch_size");
  if (options.batch_size == 0) check_budgets();
}

Sampler::Sizes Sampler::sizes(std::int64_t molecule) const {
  if (options_.token_budget == 0) return {dataset_.atoms(molecule), dataset_.edges(molecule), 0};
  const std::int64_t tokens = std::ssize(dataset_.tokens(molecule));
  return {0, 0, options_.max_length > 0 ? std::min(tokens, options_.max_length) : tokens};
}

bool Sampler::within_budgets(const Sizes& sizes) const {
  return sizes[0] <= options_.node_budget && sizes[1] <= options_.edge_budget &&
         sizes[2] <= options_.token_budget;
}

void Sampler::check_budgets() const {
  for (const std::int64_t m : molecules_) {
    const auto [atoms, edges, tokens] = sizes(m);
    if (within_budgets({atoms, edges, tokens})) continue;
    check<UserError>(options_.token_budget == 0, dataset_.path(), ": molecule ", m, " has ", tokens,
                     " tokens, more than token_budget ", options_.token_budget, "; raise it");
    throw UserError(concat(dataset_.path(), ": molecule ", m, " has ", atoms, " atoms and ", edges,
                           " edges, more than node_budget ", options_.node_budget,
                           " or edge_budget ", options_.edge_budget, "; raise them"));
  }
}

/// Fisher-Yates with one Philox draw an element.
std::vector<std::int64_t> Sampler::shuffled(std::int64_t epoch) const {
  std::vector<std::int64_t> order = molecules_;
  const RngKey key = derive_key(options_.seed, kShufflePurpose, static_cast<std::uint64_t>(epoch));
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(random_below(key, i, i + 1))]);
  }
  return order;
}

std::vector<std::int64_t> Sampler::cut_by_count() const {
  std::vector<std::int64_t> begins;
  for (std::int64_t at = 0; at < molecules(); at += options_.batch_size) begins.push_back(at);
  const std::int64_t last = molecules() - begins.back();
  if (!options_.drop_last || last == options_.batch_size) begins.push_back(molecules());
  return begins;
}

/// As many molecules, in order, as the budgets allow; then the next step.
std::vector<std::int64_t> Sampler::cut_by_budget(std::span<const std::int64_t> order) const {
  std::vector<std::int64_t> begins = {0};
  Sizes step{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Sizes own = sizes(order[i]);
    std::ranges::transform(step, own, step.begin(), std::plus{});
    if (within_budgets(step)) continue;
    begins.push_back(static_cast<std::int64_t>(i));
    step = own;
  }
  begins.push_back(std::ssize(order));
  return begins;
}

EpochPlan Sampler::plan(std::int64_t epoch) const {
  check<ShapeError>(epoch >= 0, "epoch ", epoch, " does not exist");
  EpochPlan out;
  out.order_ = options_.shuffle ? shuffled(epoch) : molecules_;
  out.begins_ = options_.batch_size > 0 ? cut_by_count() : cut_by_budget(out.order_);
  out.rank_ = options_.rank;
  out.world_size_ = options_.world_size;
  return out;
}

std::int64_t Sampler::steps(std::int64_t epoch) const {
  if (options_.batch_size > 0) return std::ssize(cut_by_count()) - 1;
  return plan(epoch).steps();
}

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "apps/task.h"
#include "apps/token_input.h"

namespace moiety::apps {

/// Says of each token what comes with no knowledge of its neighbours: how often it is there.
struct UnigramPredictor {
  std::vector<double> log_probability;  ///< [V]
  std::int32_t most_frequent = 0;
};

/// Learns the language of SMILES: which tokens stand where. Which ones a head guesses is a derived
/// task's. Nothing but the texts is learnt from.
class LanguageTask : public Task {
 public:
  LanguageTask(const ModelSpec& spec, Device& device, data::SequenceBatching::Objective objective);

  const TokenInput& input() const { return input_; }
  data::SequenceBatching::Objective guessed() const { return guessed_; }
  /// Sum of the cross entropies of the labels: [].
  virtual Variable loss(const TokenBatch& batch, nn::ForwardContext& context) const = 0;

  void check_data(const data::Dataset& dataset) const final;
  void check_texts(const std::string&) const final {}
  std::unique_ptr<Objective> objective(const data::Dataset& dataset,
                                       const Recipe& recipe) const final;
  SplitScores evaluate(const data::Dataset& dataset,
                       std::span<const std::int64_t> rows) const final;
  RunOutcome outcome(const data::Dataset& dataset) const final;
  /// The sum over the guessed tokens of the logarithms of their probabilities, and how many those
  /// are.
  std::vector<std::string> columns() const final { return {"log_likelihood", "tokens"}; }
  std::vector<RowPrediction> predict(const data::Dataset& dataset,
                                     std::span<const std::int64_t> rows) const final;
  std::vector<RowPrediction> predict(std::span<const data::SourceRow> rows,
                                     std::int64_t first_row) const final;

 protected:
  /// Scores of the tokens that a batch's head reads: [S, V].
  virtual Variable scores(const TokenBatch& batch, nn::ForwardContext& context) const = 0;
  /// Whether a head may have to guess the token at this place of a sequence.
  virtual bool is_guessed(std::span<const std::int32_t> sequence, std::size_t at) const = 0;

 private:
  /// kFigures numbers a sequence, see the source.
  std::vector<double> judge_part(const TokenBatch& part, const UnigramPredictor* unigram) const;
  std::vector<double> judge_rows(const data::Dataset& dataset, std::span<const std::int64_t> rows,
                                 const UnigramPredictor* unigram) const;
  std::vector<double> judge(
      const std::function<std::vector<TokenBatch>(std::int64_t tokens)>& collate,
      const UnigramPredictor* unigram) const;
  UnigramPredictor count_tokens(const data::Dataset& dataset) const;

  TokenInput input_;
  data::SequenceBatching::Objective guessed_;
};

/// Hidden tokens, by an encoder.
std::unique_ptr<Task> make_masked_language_task(const ModelSpec& spec, Device& device,
                                                std::uint64_t seed);
/// The next token, by a decoder.
std::unique_ptr<Task> make_causal_language_task(const ModelSpec& spec, Device& device,
                                                std::uint64_t seed);

}  // namespace moiety::apps

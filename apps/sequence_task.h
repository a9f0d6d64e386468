// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/supervised_task.h"
#include "apps/token_input.h"
#include "nn/sequence_models.h"

namespace moiety::apps {

/// Learns targets from the tokens of SMILES.
class SequenceTask final : public SupervisedTask {
 public:
  SequenceTask(const ModelSpec& spec, Device& device, std::uint64_t seed);

  const nn::SequenceModel& model() const override { return *model_; }
  const TokenInput& input() const { return input_; }
  nn::StateDictNames state_dict_names(std::int64_t padding) const override {
    return nn::state_dict_names(*model_, padding);
  }
  void check_data(const data::Dataset& dataset) const override;
  void check_texts(const std::string&) const override {}
  std::unique_ptr<Objective> objective(const data::Dataset& dataset,
                                       const Recipe& recipe) const override;
  std::vector<RowPrediction> predict(std::span<const data::SourceRow> rows,
                                     std::int64_t first_row) const override;
  using SupervisedTask::predict;

 protected:
  std::vector<double> predict_values(const data::Dataset& dataset,
                                     std::span<const std::int64_t> rows) const override;
  std::vector<std::int64_t> rows_that_fit(const data::Dataset& dataset,
                                          std::span<const std::int64_t> rows) const override;
  std::string problem_of(const data::Dataset& dataset, std::int64_t row) const override;

 private:
  /// Predictions for sequences that `collate` cuts into parts of so many tokens.
  std::vector<double> predict_sequences(
      const std::function<std::vector<TokenBatch>(std::int64_t tokens)>& collate) const;

  TokenInput input_;
  std::unique_ptr<nn::SequenceModel> model_;
};

}  // namespace moiety::apps

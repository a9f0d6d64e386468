// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "apps/predictions.h"
#include "apps/targets.h"
#include "apps/task.h"

namespace moiety::apps {

/// Learns targets of molecules; what it sees of these is a derived task's. Targets that are missing
/// have no part in losses and scores.
class SupervisedTask : public Task {
 public:
  SupervisedTask(ModelSpec spec, Device& device);

  const Targets& targets() const { return *targets_; }

  SplitScores evaluate(const data::Dataset& dataset,
                       std::span<const std::int64_t> rows) const final;
  RunOutcome outcome(const data::Dataset& dataset) const final;
  std::vector<std::string> columns() const final { return spec().targets; }
  std::vector<RowPrediction> predict(const data::Dataset& dataset,
                                     std::span<const std::int64_t> rows) const final;
  using Task::predict;

  /// Predictions beside the truth; SMILES and identifiers are read where `names` asks for them.
  Predictions predictions(const data::Dataset& dataset, std::span<const std::int64_t> rows,
                          bool names) const;

 protected:
  /// Predictions for rows that fit the model, [M * T], row by row.
  virtual std::vector<double> predict_values(const data::Dataset& dataset,
                                             std::span<const std::int64_t> rows) const = 0;
  /// Rows that can be trained on and judged. Throws UserError where the others must not be left
  /// out.
  virtual std::vector<std::int64_t> rows_that_fit(const data::Dataset& dataset,
                                                  std::span<const std::int64_t> rows) const;
  /// Why nothing can be predicted of a row, "" where something can.
  virtual std::string problem_of(const data::Dataset& dataset, std::int64_t row) const;

 private:
  friend class SupervisedObjective;

  /// Of a split, which may have no rows left.
  SplitScores score(const data::Dataset& dataset, std::span<const std::int64_t> rows,
                    const std::vector<std::string>& units) const;

  std::unique_ptr<Targets> targets_;
};

/// The objective of such a task; how batches are made is a derived one's.
class SupervisedObjective : public Objective {
 public:
  SupervisedObjective(const SupervisedTask& task, const data::Dataset& dataset,
                      const Recipe& recipe);

  std::vector<std::int64_t> rows(data::Split split) const override;
  Validation validate() const final;
  double rank(const Validation& validation) const final;

 protected:
  const Targets& targets() const { return task_.targets(); }
  const TrainRecipe& recipe() const { return recipe_; }
  /// Targets of y [M, K] that are trained on and not missing.
  std::int64_t present(const Tensor& y) const;
  /// Of an output of the model for a part: the sum of its losses times `scale`.
  Variable loss(const Variable& output, const Tensor& y, double scale) const;
  std::span<const std::size_t> columns() const { return columns_; }

 private:
  const SupervisedTask& task_;
  data::Dataset dataset_;
  TrainRecipe recipe_;
  std::vector<std::size_t> columns_;
};

/// Values of y [M, T] that are not missing.
std::int64_t count_present(const Tensor& y);

}  // namespace moiety::apps

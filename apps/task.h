// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/metrics.h"
#include "apps/model_spec.h"
#include "apps/recipe.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "data/row_source.h"
#include "nn/forward_context.h"
#include "nn/huggingface.h"
#include "nn/recorded_step.h"

namespace moiety::apps {

/// The batches of a training step, cut into parts.
struct StepParts {
  std::int64_t count = 0;    ///< parts
  std::int64_t counted = 0;  ///< targets or tokens whose losses are summed, over all parts
  /// Sum of the losses in a part, times `scale`: [].
  std::function<Variable(std::int64_t part, nn::ForwardContext& context, double scale)> loss;
};

/// The same for nn::RecordedStep.
struct RecordedBatches {
  data::LoaderOptions loader;                               ///< which makes packed batches
  std::function<std::int64_t(const PackedBatch&)> counted;  ///< targets or tokens of a batch
  nn::BatchLoss loss;
};

/// What a validation found.
struct Validation {
  SplitScores scores;
  double loss = 0;  ///< what training minimises
};

/// What a model is trained to on one data set, as a recipe asks for it: how its batches are made,
/// what their loss is, and which of two validations is the better one.
class Objective {
 public:
  virtual ~Objective() = default;

  /// Rows of a split that are trained on or judged.
  virtual std::vector<std::int64_t> rows(data::Split split) const = 0;
  /// Whether the molecules of a batch influence each other in training: parts of it must run one
  /// after the other.
  virtual bool couples_molecules() const { return false; }
  /// How the loader is to make batches; the caller adds where they end.
  virtual data::LoaderOptions loader_options() const = 0;
  /// Batches of one step, which form one larger batch.
  virtual StepParts step_parts(std::vector<data::LoadedBatch> batches) const = 0;
  /// How a device that is faster than its host is fed; nothing where steps cannot be recorded.
  virtual std::optional<RecordedBatches> recorded() const { return std::nullopt; }

  /// Judges the validation split.
  virtual Validation validate() const = 0;
  /// The smaller, the better.
  virtual double rank(const Validation& validation) const = 0;
};

/// What is predicted of a row, or why nothing is.
struct RowPrediction {
  std::vector<double> values;  ///< one a column, or none
  std::string problem;
};

/// A prediction a row: `values` has `width` numbers of each row whose problem is "", in order.
std::vector<RowPrediction> rows_with_problems(const std::vector<double>& values, std::size_t width,
                                              std::vector<std::string> problems);

/// What a finished run has to show.
struct RunOutcome {
  std::map<std::string, SplitScores> metrics;  ///< by split
  /// By name, then split: "mean predictor" -> "test" -> scores.
  std::map<std::string, std::map<std::string, SplitScores>> baselines;
  std::string chosen_by;         ///< what the best weights were chosen by
  std::string test_predictions;  ///< CSV, a line a row of the test split
};

/// A model and what it is for: all that training, evaluation and prediction need to know of it.
class Task {
 public:
  /// The device must outlive the task.
  Task(ModelSpec spec, Device& device) : spec_(std::move(spec)), device_(device) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const ModelSpec& spec() const { return spec_; }
  Device& device() const { return device_; }
  virtual const nn::Module& model() const = 0;
  /// Where the model's tensors lie in a state dict of HuggingFace's library, whose padding token
  /// has this number. Throws UserError where it has no counterpart there.
  virtual nn::StateDictNames state_dict_names(std::int64_t padding) const;

  /// Throws UserError unless the data set holds what the model reads, as it was trained on it.
  virtual void check_data(const data::Dataset& dataset) const = 0;
  /// The same for SMILES of a file.
  virtual void check_texts(const std::string& path) const = 0;

  /// The task must outlive it. Throws UserError where the data set cannot be trained on, or where
  /// keys of the recipe contradict the task.
  virtual std::unique_ptr<Objective> objective(const data::Dataset& dataset,
                                               const Recipe& recipe) const = 0;
  /// Judges rows of a data set. Throws UserError where they do not fit the model.
  virtual SplitScores evaluate(const data::Dataset& dataset,
                               std::span<const std::int64_t> rows) const = 0;
  /// Of the splits of the data set that the model was trained on.
  virtual RunOutcome outcome(const data::Dataset& dataset) const = 0;

  /// Names of the numbers that are predicted of a row.
  virtual std::vector<std::string> columns() const = 0;
  /// Predictions for rows of a data set, in their order.
  virtual std::vector<RowPrediction> predict(const data::Dataset& dataset,
                                             std::span<const std::int64_t> rows) const = 0;
  /// The same for rows of a text, of which the first is number `first_row` of its file.
  virtual std::vector<RowPrediction> predict(std::span<const data::SourceRow> rows,
                                             std::int64_t first_row) const = 0;

 private:
  ModelSpec spec_;
  Device& device_;
};

/// The task that a description stands for, with new weights drawn from the seed.
std::unique_ptr<Task> make_task(const ModelSpec& spec, Device& device, std::uint64_t seed = 0);

}  // namespace moiety::apps

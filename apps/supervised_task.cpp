// SPDX-License-Identifier: Apache-2.0
#include "apps/supervised_task.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace moiety::apps {
namespace {

/// Molecules that are predicted at a time: memory stays bounded for any data set.
constexpr std::size_t kMoleculesAtATime = 4096;

/// A target that is never known is no mistake of the file, but nothing can be learnt or chosen by
/// it.
void check_values(const data::Dataset& dataset, const std::vector<std::size_t>& columns) {
  for (const std::size_t column : columns) {
    for (const data::Split split : {data::Split::train, data::Split::valid}) {
      const bool known = std::ranges::any_of(dataset.split(split), [&](std::int64_t row) {
        return !std::isnan(dataset.targets(row)[column]);
      });
      check<UserError>(known, "target '", dataset.info().targets[column].name, "' of ",
                       dataset.path(), " has no value in the ", name_of(split),
                       " split; train on others (data.target) or split the data set another way");
    }
  }
}

}  // namespace

SupervisedTask::SupervisedTask(ModelSpec spec, Device& device)
    : Task(std::move(spec), device), targets_(make_targets(this->spec())) {}

Predictions SupervisedTask::predictions(const data::Dataset& dataset,
                                        std::span<const std::int64_t> rows, bool names) const {
  const auto columns = target_columns(spec(), dataset.info());
  Predictions out;
  out.targets = spec().targets;
  for (std::size_t begin = 0; begin < rows.size(); begin += kMoleculesAtATime) {
    const auto some = rows.subspan(begin, std::min(kMoleculesAtATime, rows.size() - begin));
    const auto predicted = predict_values(dataset, some);
    out.prediction.insert(out.prediction.end(), predicted.begin(), predicted.end());
    const auto append = [](std::vector<std::string>& to, std::vector<std::string> from) {
      to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
    };
    append(out.id, names ? dataset.ids(some) : std::vector<std::string>(some.size()));
    append(out.smiles, names ? dataset.smiles(some) : std::vector<std::string>(some.size()));
    for (const std::int64_t row : some) {
      const auto truth = dataset.targets(row);
      for (const std::size_t column : columns) out.truth.push_back(truth[column]);
    }
  }
  return out;
}

SplitScores SupervisedTask::score(const data::Dataset& dataset, std::span<const std::int64_t> rows,
                                  const std::vector<std::string>& units) const {
  return targets_->score(predictions(dataset, rows_that_fit(dataset, rows), /*names=*/false),
                         units);
}

SplitScores SupervisedTask::evaluate(const data::Dataset& dataset,
                                     std::span<const std::int64_t> rows) const {
  return score(dataset, rows, common_units(spec(), dataset.info()));
}

RunOutcome SupervisedTask::outcome(const data::Dataset& dataset) const {
  RunOutcome out;
  const auto test_rows = rows_that_fit(dataset, dataset.split(data::Split::test));
  const Predictions test = predictions(dataset, test_rows, /*names=*/true);
  out.test_predictions = to_csv(test);
  for (const data::Split split : {data::Split::train, data::Split::valid}) {
    out.metrics[name_of(split)] = score(dataset, dataset.split(split), spec().units);
  }
  out.metrics["test"] = targets_->score(test, spec().units);
  out.chosen_by = targets_->chosen_by(out.metrics["valid"]);
  for (auto& [name, scores] : targets_->baselines(dataset, spec(), test)) {
    out.baselines[name]["test"] = std::move(scores);
  }
  return out;
}

std::vector<RowPrediction> SupervisedTask::predict(const data::Dataset& dataset,
                                                   std::span<const std::int64_t> rows) const {
  std::vector<std::string> problems;
  std::vector<std::int64_t> fitting;
  for (const std::int64_t row : rows) {
    problems.push_back(problem_of(dataset, row));
    if (problems.back().empty()) fitting.push_back(row);
  }
  const auto values = fitting.empty() ? std::vector<double>() : predict_values(dataset, fitting);
  return rows_with_problems(values, spec().targets.size(), std::move(problems));
}

std::vector<std::int64_t> SupervisedTask::rows_that_fit(const data::Dataset&,
                                                        std::span<const std::int64_t> rows) const {
  return {rows.begin(), rows.end()};
}

std::string SupervisedTask::problem_of(const data::Dataset&, std::int64_t) const { return ""; }

SupervisedObjective::SupervisedObjective(const SupervisedTask& task, const data::Dataset& dataset,
                                         const Recipe& recipe)
    : task_(task),
      dataset_(dataset),
      recipe_(recipe.train),
      columns_(target_columns(task.spec(), dataset.info())) {
  check_values(dataset, columns_);
  targets().check_loss(recipe_);
}

std::vector<std::int64_t> SupervisedObjective::rows(data::Split split) const {
  return task_.rows_that_fit(dataset_, dataset_.split(split));
}

Validation SupervisedObjective::validate() const {
  const Predictions predictions =
      task_.predictions(dataset_, rows(data::Split::valid), /*names=*/false);
  return {targets().score(predictions, task_.spec().units),
          targets().mean_loss(predictions, recipe_)};
}

double SupervisedObjective::rank(const Validation& validation) const {
  return targets().rank(validation);
}

std::int64_t SupervisedObjective::present(const Tensor& y) const {
  const float* values = y.data<float>();
  const std::int64_t width = y.size(1);
  std::int64_t count = 0;
  for (std::int64_t m = 0; m < y.size(0); ++m) {
    for (const std::size_t c : columns_) {
      count += !std::isnan(values[m * width + static_cast<std::int64_t>(c)]);
    }
  }
  return count;
}

Variable SupervisedObjective::loss(const Variable& output, const Tensor& y, double scale) const {
  return targets().loss(output, targets().wanted(y, columns_), recipe_, scale);
}

std::int64_t count_present(const Tensor& y) {
  const std::span values(y.data<float>(), static_cast<std::size_t>(y.numel()));
  return std::ranges::count_if(values, [](float value) { return !std::isnan(value); });
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "apps/metrics.h"
#include "apps/pretrained.h"
#include "apps/recipe.h"
#include "apps/task.h"
#include "apps/training_step.h"
#include "data/loader.h"
#include "nn/early_stopping.h"
#include "nn/ema.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"

namespace moiety::apps {

/// Where a training is: with the weights and the optimizer, all that the next step depends on.
struct TrainingPosition {
  data::Cursor cursor;    ///< the next batch
  std::int64_t step = 0;  ///< optimizer steps done
  double seconds = 0;     ///< of training so far, over all restarts
  double loss_sum = 0;    ///< of the steps since the last validation
  std::int64_t loss_steps = 0;
  std::int64_t molecules = 0;  ///< trained on so far
};

/// A model in training: its weights, optimizer, schedule and position, one step at a time, and all
/// of it to and from a checkpoint. A training that was killed and goes on from its checkpoint ends
/// with the same weights, bit for bit, as one that was not.
class Trainer {
 public:
  /// The device must outlive it. The weights are new, or those of a pretrained model as far as they
  /// go. Throws UserError for recipes that do not fit the data set.
  Trainer(const Recipe& recipe, const data::Dataset& dataset, Device& device,
          const Pretrained* pretrained = nullptr);

  /// Optimizer steps of the whole training.
  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  const TrainingPosition& position() const { return position_; }
  const ModelSpec& spec() const { return task_->spec(); }
  const nn::Module& model() const { return task_->model(); }
  Device& device() const { return device_; }
  double learning_rate() const { return schedule_->lr(position_.step); }
  bool finished() const;
  /// Whether any validation gave a finite error.
  bool has_best() const { return std::isfinite(early_stopping_.best()); }

  /// One optimizer step over the next `train.accumulate` batches of the epoch. A GPU does it some
  /// time later: settle() waits for it.
  void step(data::Loader& loader);
  /// Waits for all steps and takes their losses into the position.
  void settle();
  /// Of the newest step that is known to be done.
  const nn::StepReport& last_report() const { return last_report_; }
  /// The batches from the current position on.
  data::Loader make_loader() const;

  /// Of the validation split, with the averaged weights where the recipe keeps them.
  Validation validate();
  /// Takes a validation into the schedule and the stopping rule; true when it is the best so far.
  bool observe(const Validation& valid);
  /// Mean training loss since the last call, which it resets.
  double take_mean_loss();
  /// Likewise the steps that were skipped because their gradient was not finite.
  std::int64_t take_skipped() { return std::exchange(skipped_, 0); }
  void add_seconds(double seconds) { position_.seconds += seconds; }

  /// Weights for prediction (the averaged ones where the recipe keeps them), and what the model is.
  void save_model(const std::filesystem::path& path);
  /// Everything.
  void save(const std::filesystem::path& path);
  /// Throws IoError for a damaged file or one of another model, and UserError for one that was
  /// trained on another data set.
  void restore(const std::filesystem::path& path);

 private:
  std::vector<data::LoadedBatch> next_batches(data::Loader& loader);
  void account(const std::vector<nn::StepResult>& results);

  Recipe recipe_;
  data::Dataset dataset_;
  Device& device_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Objective> objective_;
  data::Sampler sampler_;
  std::unique_ptr<nn::FlatParameters> parameters_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  std::unique_ptr<nn::Schedule> schedule_;
  std::optional<nn::Ema> ema_;
  nn::EarlyStopping early_stopping_;
  nn::FlatBuffer gradients_;
  std::unique_ptr<TrainingStep> step_;
  nn::StepReport last_report_;
  std::int64_t skipped_ = 0;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t total_steps_ = 0;
  TrainingPosition position_;
};

}  // namespace moiety::apps

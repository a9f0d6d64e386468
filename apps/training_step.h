// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "apps/recipe.h"
#include "apps/task.h"
#include "data/loader.h"
#include "nn/ema.h"
#include "nn/optimizer.h"
#include "nn/recorded_step.h"

namespace moiety::apps {

/// What a training step reads and moves. All of it must outlive the step.
struct StepWork {
  const TrainRecipe& recipe;
  kernels::AttentionLibrary attention;
  const Objective& objective;
  const nn::FlatParameters& parameters;
  const nn::FlatBuffer& gradients;
  nn::Optimizer& optimizer;
  nn::Ema* ema;  ///< may be null
  Device& device;
};

/// How a device makes training steps: forward and backward pass, clipping, update, averages.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;

  /// How the loader is to make batches; the caller adds where they end.
  virtual data::LoaderOptions loader_options() const = 0;
  /// One step over these batches. Throws Error when too many steps in a row had to be skipped.
  virtual void run(std::vector<data::LoadedBatch> batches, std::int64_t number, double lr) = 0;
  /// What steps did, oldest first: of those that are done, or of all, waiting for them.
  virtual std::vector<nn::StepResult> results(bool wait) = 0;
};

/// On a CPU each thread takes parts of a batch through all layers; for a GPU the step is recorded
/// where the objective can be.
std::unique_ptr<TrainingStep> make_training_step(const StepWork& work);

}  // namespace moiety::apps

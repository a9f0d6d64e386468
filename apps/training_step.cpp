// SPDX-License-Identifier: Apache-2.0
#include "apps/training_step.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "nn/parallel_step.h"

namespace moiety::apps {
namespace {

double scale_for(std::int64_t counted) {
  return 1.0 / static_cast<double>(std::max<std::int64_t>(counted, 1));
}

/// How the layers compute, what they keep, and whose attention they use.
void set_up(nn::ForwardContext& context, const TrainRecipe& recipe,
            kernels::AttentionLibrary attention) {
  if (recipe.precision == "bf16") context.compute_in(DType::bf16);
  if (recipe.precision == "f16") context.compute_in(DType::f16);
  context.recompute_blocks(recipe.recompute);
  context.attend_by(attention);
}

/// The loss of a batch whose layers are set up.
nn::BatchLoss with_context(const nn::BatchLoss& loss, const TrainRecipe& recipe,
                           kernels::AttentionLibrary attention) {
  return std::visit(
      [&]<class Loss>(const Loss& of_batch) -> nn::BatchLoss {
        return Loss([of_batch, recipe, attention](const auto& batch, nn::ForwardContext& context) {
          set_up(context, recipe, attention);
          return of_batch(batch, context);
        });
      },
      loss);
}

class StepInParts final : public TrainingStep {
 public:
  explicit StepInParts(const StepWork& work)
      : work_(work),
        parallel_(work.parameters, !work.objective.couples_molecules() && !work.device.is_cuda()),
        one_(Tensor::from(std::vector<float>{1}, {}, work.device)) {}

  data::LoaderOptions loader_options() const override { return work_.objective.loader_options(); }

  void run(std::vector<data::LoadedBatch> batches, std::int64_t number, double lr) override {
    const StepParts parts = work_.objective.step_parts(std::move(batches));
    const double scale = scale_for(parts.counted);
    work_.gradients.flat.fill_zero();
    const double value = parallel_.run(
        parts.count,
        [&](std::int64_t i) {
          auto context = nn::ForwardContext::training(static_cast<std::uint64_t>(work_.recipe.seed),
                                                      static_cast<std::uint64_t>(number));
          set_up(context, work_.recipe, work_.attention);
          return parts.loss(i, context, scale);
        },
        work_.gradients, work_.optimizer.loss_seed(one_));
    results_.push_back({value, work_.optimizer.step(work_.gradients, lr)});
    if (work_.ema != nullptr) work_.ema->update();
  }

  std::vector<nn::StepResult> results(bool) override { return std::exchange(results_, {}); }

 private:
  StepWork work_;
  nn::ParallelStep parallel_;
  Tensor one_;  // f32 []
  std::vector<nn::StepResult> results_;
};

class StepOnGpu final : public TrainingStep {
 public:
  StepOnGpu(const StepWork& work, RecordedBatches batches)
      : work_(work),
        batches_(std::move(batches)),
        recorded_(work.parameters, work.gradients, work.optimizer, work.ema,
                  with_context(batches_.loss, work.recipe, work.attention)) {}

  data::LoaderOptions loader_options() const override { return batches_.loader; }

  void run(std::vector<data::LoadedBatch> batches, std::int64_t number, double lr) override {
    std::int64_t counted = 0;
    for (const data::LoadedBatch& batch : batches) counted += batches_.counted(*batch.packed);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      recorded_.run({.batch = std::move(*batches[i].packed),
                     .seed = static_cast<std::uint64_t>(work_.recipe.seed),
                     .step = static_cast<std::uint64_t>(number),
                     .number = static_cast<std::int64_t>(i),
                     .last = i + 1 == batches.size(),
                     .lr = lr,
                     .scale = scale_for(counted)});
    }
  }

  std::vector<nn::StepResult> results(bool wait) override { return recorded_.results(wait); }

 private:
  StepWork work_;
  RecordedBatches batches_;
  nn::RecordedStep recorded_;
};

}  // namespace

std::unique_ptr<TrainingStep> make_training_step(const StepWork& work) {
  if (work.device.is_cuda()) {
    if (auto recorded = work.objective.recorded()) {
      return std::make_unique<StepOnGpu>(work, std::move(*recorded));
    }
  }
  return std::make_unique<StepInParts>(work);
}

}  // namespace moiety::apps

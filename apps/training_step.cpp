// SPDX-License-Identifier: Apache-2.0
#include "apps/training_step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "apps/evaluation.h"
#include "autograd/ops/loss.h"
#include "nn/parallel_step.h"

namespace moiety::apps {
namespace {

/// Targets of these columns that are not missing.
std::int64_t present(const Tensor& y, std::span<const std::size_t> columns) {
  const float* values = y.data<float>();
  const std::int64_t width = y.size(1);
  std::int64_t count = 0;
  for (std::int64_t m = 0; m < y.size(0); ++m) {
    for (const std::size_t c : columns) {
      count += !std::isnan(values[m * width + static_cast<std::int64_t>(c)]);
    }
  }
  return count;
}

double scale_for(std::int64_t targets) {
  return 1.0 / static_cast<double>(std::max<std::int64_t>(targets, 1));
}

class StepInParts final : public TrainingStep {
 public:
  explicit StepInParts(const StepWork& work)
      : work_(work), parallel_(work.parameters, !work.model.couples_molecules()) {}

  data::LoaderOptions loader_options() const override {
    return {.nodes_per_part = work_.model.couples_molecules() ? 0 : nodes_per_part(work_.device)};
  }

  void run(std::vector<data::LoadedBatch> batches, std::int64_t number, double lr) override {
    const std::vector<GraphBatch> parts = join(std::move(batches));
    std::int64_t targets = 0;
    for (const GraphBatch& part : parts) targets += present(part.y, work_.columns);
    const TrainRecipe& recipe = work_.recipe;
    const ops::Loss loss = loss_of(recipe);
    work_.gradients.flat.fill_zero();
    const double value = parallel_.run(
        static_cast<std::int64_t>(parts.size()),
        [&](std::int64_t i) {
          const GraphBatch& part = parts[static_cast<std::size_t>(i)];
          auto context = nn::ForwardContext::training(static_cast<std::uint64_t>(recipe.seed),
                                                      static_cast<std::uint64_t>(number));
          const Variable prediction = work_.model.forward(part, context);
          return ops::regression_loss(prediction, work_.scaler.standardize(part.y, work_.columns),
                                      loss, scale_for(targets), recipe.huber_delta);
        },
        work_.gradients);
    results_.push_back({value, work_.optimizer.step(work_.gradients, lr)});
    if (work_.ema != nullptr) work_.ema->update();
  }

  std::vector<nn::StepResult> results(bool) override { return std::exchange(results_, {}); }

 private:
  /// Batches of one step form one larger batch: dropout must not repeat itself in the second.
  static std::vector<GraphBatch> join(std::vector<data::LoadedBatch> batches) {
    std::vector<GraphBatch> parts;
    std::int64_t nodes = 0;
    std::int64_t graphs = 0;
    for (data::LoadedBatch& batch : batches) {
      for (GraphBatch& part : batch.parts) {
        part.first_node += nodes;
        part.first_graph += graphs;
      }
      std::ranges::move(batch.parts, std::back_inserter(parts));
      nodes = parts.back().first_node + parts.back().nodes();
      graphs = parts.back().first_graph + parts.back().graphs();
    }
    return parts;
  }

  StepWork work_;
  nn::ParallelStep parallel_;
  std::vector<nn::StepResult> results_;
};

class StepOnGpu final : public TrainingStep {
 public:
  explicit StepOnGpu(const StepWork& work)
      : work_(work),
        recorded_(work.parameters, work.gradients, work.optimizer, work.ema,
                  [this](const GraphBatch& batch, nn::ForwardContext& context) {
                    if (work_.recipe.precision == "bf16") context.compute_in(DType::bf16);
                    context.attend_by(work_.attention);
                    return ops::regression_loss(work_.model.forward(batch, context), batch.y,
                                                loss_of(work_.recipe), 1.0,
                                                work_.recipe.huber_delta);
                  }) {}

  data::LoaderOptions loader_options() const override {
    return {.pack = [this](const GraphBatch& batch) {
      GraphBatch standardised = batch;
      standardised.y = work_.scaler.standardize(batch.y, work_.columns);
      return pack(standardised, padded_size(batch), sizeof(nn::StepNumbers),
                  work_.device.staging());
    }};
  }

  void run(std::vector<data::LoadedBatch> batches, std::int64_t number, double lr) override {
    std::vector<std::size_t> all(work_.columns.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::int64_t targets = 0;
    for (const data::LoadedBatch& batch : batches) targets += present(batch.packed->graphs.y, all);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      recorded_.run({.batch = std::move(*batches[i].packed),
                     .seed = static_cast<std::uint64_t>(work_.recipe.seed),
                     .step = static_cast<std::uint64_t>(number),
                     .number = static_cast<std::int64_t>(i),
                     .last = i + 1 == batches.size(),
                     .lr = lr,
                     .scale = scale_for(targets)});
    }
  }

  std::vector<nn::StepResult> results(bool wait) override { return recorded_.results(wait); }

 private:
  StepWork work_;
  nn::RecordedStep recorded_;
};

}  // namespace

kernels::Loss loss_of(const TrainRecipe& recipe) {
  if (recipe.loss == "mse") return kernels::Loss::mse;
  if (recipe.loss == "mae") return kernels::Loss::mae;
  return kernels::Loss::huber;
}

std::unique_ptr<TrainingStep> make_training_step(const StepWork& work) {
  if (work.device.is_cuda()) return std::make_unique<StepOnGpu>(work);
  return std::make_unique<StepInParts>(work);
}

}  // namespace moiety::apps

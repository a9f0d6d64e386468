// SPDX-License-Identifier: Apache-2.0
#include "apps/trainer.h"

#include <algorithm>
#include <cmath>

#include "apps/machine.h"
#include "nn/checkpoint_tensors.h"

namespace moiety::apps {
namespace {

data::SamplerOptions sampler_options(const Recipe& recipe) {
  const bool by_tokens = recipe.data.token_budget > 0;
  const bool by_budget = recipe.data.node_budget > 0 || by_tokens;
  return {.batch_size = by_budget ? 0 : recipe.data.batch_size,
          .node_budget = recipe.data.node_budget,
          .edge_budget = recipe.data.edge_budget,
          .token_budget = recipe.data.token_budget,
          .max_length = by_tokens ? recipe.model.max_length : 0,
          .shuffle = true,
          .seed = static_cast<std::uint64_t>(recipe.train.seed)};
}

nn::OptimizerConfig optimizer_config(const TrainRecipe& train) {
  nn::OptimizerConfig out;
  out.kind = nn::optimizer_kind(train.optimizer);
  out.momentum = train.momentum;
  out.beta1 = train.beta1;
  out.beta2 = train.beta2;
  out.eps = train.eps;
  out.weight_decay = train.weight_decay;
  out.no_decay = train.no_decay;
  out.clip_norm = train.clip_norm;
  if (train.precision == "f16") {
    out.loss_scale = train.loss_scale;
    out.loss_scale_interval = train.loss_scale_interval;
  }
  return out;
}

nn::ScheduleConfig schedule_config(const TrainRecipe& train, std::int64_t steps_per_epoch,
                                   std::int64_t total_steps) {
  return {.kind = nn::schedule_kind(train.schedule),
          .lr = train.lr,
          .warmup_steps = train.warmup.steps(steps_per_epoch),
          .total_steps = total_steps,
          .min_lr = train.min_lr,
          .step_every = train.step_every.steps(steps_per_epoch),
          .step_factor = train.step_factor,
          .rise = train.one_cycle_rise,
          .plateau_patience = train.plateau_patience,
          .plateau_factor = train.plateau_factor};
}

/// Before any of it is allocated: the system would end the process without a word.
void check_memory(const ModelSpec& spec, const Device& device) {
  constexpr double kCopies = 4;  // weights, gradients and what the optimizer keeps of each
  const double parameters = count_parameters(spec);
  const double bytes = kCopies * sizeof(float) * parameters;
  const std::size_t memory = device.memory().total;
  check<UserError>(bytes <= static_cast<double>(memory), "the model has ", parameters,
                   " parameters and needs ", format_bytes(static_cast<std::int64_t>(bytes)),
                   " to be trained, but ", device.name(), " has ",
                   format_bytes(static_cast<std::int64_t>(memory)),
                   "; lower model.hidden or model.layers");
}

void set_precision(const std::string& precision, Device& device) {
  check<UserError>(precision != "tf32" || device.is_cuda(),
                   "train.precision = \"tf32\" needs a GPU, and this training is on ",
                   device.name(), "; use \"f32\" or \"bf16\", or --device cuda");
  device.set_fast_products(precision == "tf32");
}

kernels::AttentionLibrary attention_library(const RunRecipe& run, const Device& device) {
  if (run.attention == "own") return kernels::AttentionLibrary::own;
  check<UserError>(device.is_cuda(), "run.attention = \"", run.attention,
                   "\" needs a GPU, and this training is on ", device.name(),
                   "; use \"own\", or --device cuda");
  return kernels::AttentionLibrary::cudnn;
}

std::unique_ptr<Task> make_new_task(const Recipe& recipe, const data::DatasetInfo& info,
                                    Device& device, const Pretrained* pretrained) {
  check<UserError>(info.valid > 0 && info.test > 0, recipe.data.path,
                   " has no molecules in its validation or test split; prepare it with --split");
  const ModelSpec spec = make_model_spec(recipe, info);
  check_memory(spec, device);
  auto task = make_task(spec, device, static_cast<std::uint64_t>(recipe.train.seed));
  if (pretrained != nullptr) load_weights(*pretrained, *task);
  return task;
}

}  // namespace

Trainer::Trainer(const Recipe& recipe, const data::Dataset& dataset, Device& device,
                 const Pretrained* pretrained)
    : recipe_(recipe),
      dataset_(dataset),
      device_(device),
      task_(make_new_task(recipe, dataset.info(), device, pretrained)),
      objective_(task_->objective(dataset, recipe)),
      sampler_(dataset, objective_->rows(data::Split::train), sampler_options(recipe)),
      early_stopping_(recipe.train.early_stop_patience) {
  set_precision(recipe.train.precision, device_);
  parameters_ = std::make_unique<nn::FlatParameters>(model());
  gradients_ = parameters_->make_buffer();
  const auto optimizer_steps = [this](std::int64_t epoch) {
    return (sampler_.steps(epoch) + recipe_.train.accumulate - 1) / recipe_.train.accumulate;
  };
  steps_per_epoch_ = optimizer_steps(0);
  const bool equal_epochs = sampler_.options().batch_size > 0;
  for (std::int64_t e = 0; e < recipe.train.epochs; ++e) {
    total_steps_ += equal_epochs ? steps_per_epoch_ : optimizer_steps(e);
  }
  if (recipe.train.max_steps > 0) total_steps_ = std::min(total_steps_, recipe.train.max_steps);
  optimizer_ = std::make_unique<nn::Optimizer>(*parameters_, optimizer_config(recipe.train));
  schedule_ =
      std::make_unique<nn::Schedule>(schedule_config(recipe.train, steps_per_epoch_, total_steps_));
  if (recipe.train.ema > 0) ema_.emplace(*parameters_, recipe.train.ema);
  step_ = make_training_step({.recipe = recipe_.train,
                              .attention = attention_library(recipe_.run, device_),
                              .objective = *objective_,
                              .parameters = *parameters_,
                              .gradients = gradients_,
                              .optimizer = *optimizer_,
                              .ema = ema_ ? &*ema_ : nullptr,
                              .device = device_});
}

bool Trainer::finished() const {
  return position_.step >= total_steps_ || early_stopping_.should_stop();
}

data::Loader Trainer::make_loader() const {
  data::LoaderOptions options = step_->loader_options();
  options.end_epoch = recipe_.train.epochs;
  return data::Loader(dataset_, sampler_, device_.host(), options, position_.cursor);
}

std::vector<data::LoadedBatch> Trainer::next_batches(data::Loader& loader) {
  std::vector<data::LoadedBatch> batches;
  for (std::int64_t i = 0; i < recipe_.train.accumulate; ++i) {
    std::optional<data::LoadedBatch> batch = loader.next();
    check(batch.has_value(), "the loader ended before the training did");
    position_.cursor = batch->next;
    position_.molecules += batch->molecules;
    batches.push_back(std::move(*batch));
    if (batches.back().last_of_epoch) break;
  }
  return batches;
}

void Trainer::step(data::Loader& loader) {
  step_->run(next_batches(loader), position_.step, learning_rate());
  ++position_.step;
  account(step_->results(/*wait=*/false));
}

void Trainer::settle() { account(step_->results(/*wait=*/true)); }

void Trainer::account(const std::vector<nn::StepResult>& results) {
  for (const nn::StepResult& result : results) {
    last_report_ = result.report;
    skipped_ += result.report.skipped ? 1 : 0;
    if (result.report.skipped) continue;  // a loss that is not finite would hide all others
    position_.loss_sum += result.loss;
    ++position_.loss_steps;
  }
}

Validation Trainer::validate() {
  settle();
  std::optional<nn::Ema::Swapped> averaged;
  if (ema_) averaged.emplace(*ema_);
  return objective_->validate();
}

bool Trainer::observe(const Validation& valid) {
  const double rank = objective_->rank(valid);
  schedule_->observe(rank);
  return early_stopping_.observe(rank);
}

double Trainer::take_mean_loss() {
  const double mean = position_.loss_steps > 0
                          ? position_.loss_sum / static_cast<double>(position_.loss_steps)
                          : std::nan("");
  position_.loss_sum = 0;
  position_.loss_steps = 0;
  return mean;
}

void Trainer::save_model(const std::filesystem::path& path) {
  std::optional<nn::Ema::Swapped> averaged;
  if (ema_) averaged.emplace(*ema_);
  nn::Checkpoint checkpoint;
  nn::save_module(checkpoint, model());
  checkpoint.state.merge(to_state(spec()));
  checkpoint.set_i64("step", position_.step);
  checkpoint.save(path);
}

void Trainer::save(const std::filesystem::path& path) {
  settle();
  nn::Checkpoint checkpoint;
  nn::save_module(checkpoint, model());
  checkpoint.state.merge(to_state(spec()));
  optimizer_->save(checkpoint);
  schedule_->save(checkpoint);
  early_stopping_.save(checkpoint);
  if (ema_) ema_->save(checkpoint);
  checkpoint.set_i64("cursor.epoch", position_.cursor.epoch);
  checkpoint.set_i64("cursor.step", position_.cursor.step);
  checkpoint.set_i64("step", position_.step);
  checkpoint.set_f64("seconds", position_.seconds);
  checkpoint.set_f64("loss.sum", position_.loss_sum);
  checkpoint.set_i64("loss.steps", position_.loss_steps);
  checkpoint.set_i64("molecules", position_.molecules);
  checkpoint.set_u64("data.checksum", dataset_.info().checksum);
  checkpoint.save(path);
}

void Trainer::restore(const std::filesystem::path& path) {
  const nn::Checkpoint checkpoint = nn::Checkpoint::load(path, device_);
  check<UserError>(checkpoint.get_u64("data.checksum") == dataset_.info().checksum, dataset_.path(),
                   " is not the data set that ", path.string(),
                   " was trained on, its content is another; put that one back, or train into "
                   "another folder with -o");
  nn::restore_module(checkpoint, model());
  optimizer_->restore(checkpoint);
  schedule_->restore(checkpoint);
  early_stopping_.restore(checkpoint);
  if (ema_) ema_->restore(checkpoint);
  position_.cursor = {checkpoint.get_i64("cursor.epoch"), checkpoint.get_i64("cursor.step")};
  position_.step = checkpoint.get_i64("step");
  position_.seconds = checkpoint.get_f64("seconds");
  position_.loss_sum = checkpoint.get_f64("loss.sum");
  position_.loss_steps = checkpoint.get_i64("loss.steps");
  position_.molecules = checkpoint.get_i64("molecules");
}

}  // namespace moiety::apps

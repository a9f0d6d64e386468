// SPDX-License-Identifier: Apache-2.0
#include "apps/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "apps/console.h"
#include "apps/dataset_file.h"
#include "apps/device_option.h"
#include "apps/interrupted.h"
#include "apps/memory_use.h"
#include "apps/recipe_values.h"
#include "apps/resume.h"
#include "apps/run_directory.h"
#include "apps/run_results.h"
#include "apps/signals.h"
#include "apps/tensorboard.h"
#include "apps/trainer.h"
#include "data/tokenizer_record.h"

namespace moiety::apps {
namespace {

/// The loop: steps, and at their times validations and checkpoints.
class TrainingLoop {
 public:
  TrainingLoop(const Recipe& recipe, Trainer& trainer, RunDirectory& run)
      : trainer_(trainer),
        run_(run),
        keep_(recipe.run.keep_checkpoints),
        scales_loss_(recipe.train.precision == "f16"),
        validate_every_(recipe.run.validate_every.steps(trainer.steps_per_epoch())),
        checkpoint_every_(recipe.run.checkpoint_every.steps(trainer.steps_per_epoch())),
        events_(run.files().tensorboard(), trainer.position().step),
        bar_("training") {}

  /// Until the training is finished or a signal comes; says why it ended.
  std::string run(const StopSignals& signals) {
    lap_start_ = Clock::now();
    data::Loader loader = trainer_.make_loader();
    std::int64_t saved_at = trainer_.position().step;
    while (!trainer_.finished() && !signals.requested()) {
      trainer_.step(loader);
      const std::int64_t step = trainer_.position().step;
      const bool last = step >= trainer_.total_steps();
      bar_.update(done(), note());
      if (step % validate_every_ == 0 || last) validate();
      if (step % checkpoint_every_ == 0 || last || trainer_.finished()) {
        save();
        saved_at = step;
      }
    }
    if (saved_at != trainer_.position().step) save();
    bar_.finish(done(), note());
    if (!trainer_.finished()) return "signal";
    return trainer_.position().step >= trainer_.total_steps() ? "finished" : "early stopping";
  }

 private:
  using Clock = std::chrono::steady_clock;

  void book_time() {
    const auto now = Clock::now();
    trainer_.add_seconds(std::chrono::duration<double>(now - lap_start_).count());
    lap_start_ = now;
  }

  void save() {
    book_time();
    trainer_.save(checkpoint_path(run_.files(), trainer_.position().step));
    run_.prune_checkpoints(keep_);
  }

  void validate() {
    const TrainingPosition& at = trainer_.position();
    const double lr = trainer_.learning_rate();
    const Validation valid = trainer_.validate();
    last_ = valid.scores;
    // The weights to keep come before the checkpoint that says they are kept: a kill in between
    // repeats the validation, it never loses the weights.
    if (trainer_.observe(valid)) trainer_.save_model(best_model_path(run_.files()));
    book_time();
    MetricsLine line;
    line.step = at.step;
    line.epoch = static_cast<double>(at.step) / static_cast<double>(trainer_.steps_per_epoch());
    line.seconds = at.seconds;
    line.lr = lr;
    line.train_loss = trainer_.take_mean_loss();
    line.grad_norm = trainer_.last_report().gradient_norm;
    line.skipped = trainer_.take_skipped();
    if (scales_loss_) line.loss_scale = trainer_.last_report().loss_scale;
    if (line.skipped > 0) {
      spdlog::warn("{} of the steps up to step {} were skipped: their gradient was not finite",
                   line.skipped, at.step);
    }
    line.valid_loss = valid.loss;
    line.valid = valid.scores;
    run_.append_metrics(to_json(line));
    events_.scalar("train/loss", at.step, line.train_loss);
    events_.scalar("train/lr", at.step, lr);
    events_.scalar("valid/loss", at.step, valid.loss);
    write_events(at.step);
    events_.flush();
  }

  /// The main metric of each target and the means of the others.
  void write_events(std::int64_t step) {
    const bool alone = last_->targets.size() == 1;
    for (const Metric& metric : last_->set->metrics) {
      const std::string name = "valid/" + std::string(metric.key);
      if (name == "valid/loss") continue;  // of a language model: it is there
      if (alone || &metric != &last_->set->main()) {
        events_.scalar(name, step, last_->value(metric.key));
        continue;
      }
      for (const TargetScores& target : last_->targets) {
        events_.scalar(name + "/" + target.name, step, target.values.front());
      }
    }
  }

  std::string note() const {
    const TrainingPosition& at = trainer_.position();
    std::string valid;
    for (const TargetScores& target : last_ ? last_->targets : std::vector<TargetScores>{}) {
      const Metric& metric = last_->set->main();
      const std::string name = last_->targets.size() > 1 ? target.name + " " : "";
      const std::string unit = metric.has_unit ? " " + target.unit : "";
      valid += fmt::format("{}{}{:.4g}{}",
                           valid.empty() ? fmt::format(", valid {} ", metric.title) : ", ", name,
                           target.values.front(), unit);
    }
    return fmt::format("step {}/{}{}", at.step, trainer_.total_steps(), valid);
  }

  double done() const {
    return static_cast<double>(trainer_.position().step) /
           static_cast<double>(trainer_.total_steps());
  }

  Trainer& trainer_;
  RunDirectory& run_;
  std::int64_t keep_;
  bool scales_loss_;
  std::int64_t validate_every_;
  std::int64_t checkpoint_every_;
  EventWriter events_;
  ProgressBar bar_;
  Clock::time_point lap_start_;
  std::optional<SplitScores> last_;
};

/// A resumed run keeps its recipe: another one would silently train something else.
void check_same_recipe(const RunFiles& files, const Recipe& recipe) {
  Recipe before = read_recipe(files.recipe());
  before.run = recipe.run;  // where and how often: may change between restarts
  if (before == recipe) return;
  std::vector<std::string> changes;
  for (const KeyChange& change : changed_keys(before, recipe)) {
    changes.push_back(fmt::format("{} {} -> {}", change.name, change.before, change.after));
  }
  throw UserError(fmt::format(
      "the recipe differs from the one that {} was started with ({}); resume with that one ({}) or "
      "train into another folder with -o",
      files.root.string(), fmt::join(changes, ", "), files.recipe().string()));
}

/// A data set may have more targets than the recipe names: the others are left alone, not learnt.
void say_targets(const std::vector<std::string>& used, const data::DatasetInfo& info) {
  if (used.empty() || used.size() == info.targets.size()) return;
  std::vector<std::string> others;
  for (const data::TargetSpec& target : info.targets) {
    if (!std::ranges::count(used, target.name)) others.push_back(target.name);
  }
  spdlog::info("training on {}; {} also has {}", fmt::join(used, ", "), info.path,
               fmt::join(others, ", "));
}

/// For other programs, and for data sets that are prepared later; a checkpoint has its own.
void keep_tokenizer(const ModelSpec& spec, const RunFiles& files) {
  if (spec.tokenizer.empty()) return;
  data::tokenizer_from_json(spec.tokenizer, "the model's tokenizer")->save(files.tokenizer());
}

/// What the training begins with, if the recipe names it; the keys of the model's shape become
/// those of that one. A run that goes on knows them itself, and needs it no more.
std::optional<Pretrained> find_pretrained(Recipe& recipe, const RunFiles& files, bool resume) {
  if (recipe.model.init_from.empty()) return std::nullopt;
  if (!resume) {
    const Pretrained pretrained = open_pretrained(recipe.model.init_from);
    adopt_shape(recipe, pretrained);
    return pretrained;
  }
  if (std::filesystem::exists(files.recipe())) {
    adopt_shape(recipe, read_recipe(files.recipe()), files.recipe().string());
  }
  return std::nullopt;
}

void train(Recipe recipe, const data::Dataset& dataset, Device& device,
           const std::filesystem::path& output, bool resume) {
  const auto pretrained = find_pretrained(recipe, RunFiles{output}, resume);
  Trainer trainer(recipe, dataset, device, pretrained ? &*pretrained : nullptr);
  RunDirectory run(output, resume ? RunDirectory::Mode::resume : RunDirectory::Mode::create);
  if (resume) {
    check_same_recipe(run.files(), recipe);
    resume_newest(trainer, run);
  }
  run.write_recipe(to_toml(recipe));
  keep_tokenizer(trainer.spec(), run.files());
  say_targets(trainer.spec().targets, dataset.info());

  const StopSignals signals;
  const std::string stopped_by = TrainingLoop(recipe, trainer, run).run(signals);
  if (stopped_by == "signal") {
    throw Interrupted(
        signals.signal(),
        fmt::format("stopped at step {}; go on with: moiety train {} -o {} --resume",
                    trainer.position().step, run.files().recipe().string(), output.string()));
  }
  trainer.save_model(last_model_path(run.files()));
  check_best_model(trainer, run.files());
  write_results(recipe, dataset, trainer, run, stopped_by);
}

/// What is left of a training that ends early.
std::string kept_checkpoint(const std::filesystem::path& output) {
  const std::vector<CheckpointFile> checkpoints = list_checkpoints(RunFiles{output});
  if (checkpoints.empty()) return "";
  return fmt::format("; {} is kept, and --resume goes on from it where there is more memory",
                     checkpoints.back().path.string());
}

}  // namespace

void run_training(const Recipe& recipe, const std::filesystem::path& output, bool resume) {
  check_dataset_file(recipe.data.path);
  const data::Dataset dataset(recipe.data.path);
  const auto device = open_device(recipe.run.device, static_cast<int>(recipe.run.threads));
  with_advice([&] { return memory_advice(recipe) + kept_checkpoint(output); },
              [&] { train(recipe, dataset, *device, output, resume); });
}

}  // namespace moiety::apps

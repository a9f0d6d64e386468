// SPDX-License-Identifier: Apache-2.0
#include "apps/run_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/report.h"
#include "apps/result_screen.h"
#include "apps/summary.h"
#include "apps/trained_model.h"

namespace moiety::apps {
namespace {

/// "gcn, 5 layers of 128"; of a language model also which one.
std::string describe_model(const Recipe& recipe, const ModelSpec& spec) {
  std::string kind = spec.targets.empty() ? ", " + name_of(spec.kind) : "";
  std::ranges::replace(kind, '_', ' ');
  return fmt::format("{}, {} layers of {}{}", recipe.model.type, recipe.model.layers,
                     recipe.model.hidden, kind);
}

}  // namespace

std::filesystem::path best_model_path(const RunFiles& files) {
  return files.checkpoints() / "best.ckpt";
}

std::filesystem::path last_model_path(const RunFiles& files) {
  return files.checkpoints() / "last.ckpt";
}

void write_results(const Recipe& recipe, const data::Dataset& dataset, const Trainer& trainer,
                   RunDirectory& run, const std::string& stopped_by) {
  Device& device = trainer.device();
  const MemoryUse memory = memory_use(device);
  const std::unique_ptr<Task> best = load_model(best_model_path(run.files()), device);
  const RunOutcome outcome = best->outcome(dataset);
  run.write_predictions(outcome.test_predictions);

  const TrainingPosition& at = trainer.position();
  Summary summary;
  summary.name = run.files().root.filename().string();
  summary.model = describe_model(recipe, best->spec());
  summary.dataset = dataset.path();
  summary.metrics = outcome.metrics;
  summary.baselines = outcome.baselines;
  summary.chosen_by = outcome.chosen_by;
  summary.molecules = {{"train", dataset.info().train},
                       {"valid", dataset.info().valid},
                       {"test", dataset.info().test}};
  summary.seconds = at.seconds;
  summary.molecules_per_second = static_cast<double>(at.molecules) / std::max(at.seconds, 1e-9);
  summary.parameters = best->model().parameter_count();
  summary.seed = recipe.train.seed;
  summary.epochs = at.cursor.epoch;
  summary.steps = at.step;
  summary.device = device.name();
  summary.threads = device.host().stream().pool().threads();
  summary.precision = recipe.train.precision;
  summary.memory = memory;
  summary.stopped_by = stopped_by;
  summary.machine = describe_machine();
  run.write_summary(to_json(summary));
  write_report(run.files());
  fmt::print("\n{}report: {}\n", result_screen({load_run(run.files())}),
             run.files().report().string());
}

}  // namespace moiety::apps

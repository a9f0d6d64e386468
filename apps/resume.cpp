// SPDX-License-Identifier: Apache-2.0
#include "apps/resume.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>

#include "apps/run_results.h"
#include "apps/trained_model.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

/// Why the best weights cannot be read, if so.
std::optional<std::string> problem_of_best(const Trainer& trainer, const RunFiles& files) {
  try {
    load_model(best_model_path(files), trainer.device());
    return std::nullopt;
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

void resume_newest(Trainer& trainer, RunDirectory& run) {
  std::string damaged;
  const auto newest = newest_checkpoint(run.files(), [&](const std::filesystem::path& path) {
    try {
      trainer.restore(path);
      return true;
    } catch (const IoError& error) {
      damaged += (damaged.empty() ? "" : "; ") + std::string(error.what());
      return false;
    }
  });
  const std::string root = run.files().root.string();
  check<IoError>(newest || damaged.empty(), root, " has no checkpoint that is whole: ", damaged,
                 "; put one back, or train into another folder with -o");
  if (!damaged.empty()) spdlog::warn("passing over checkpoints: {}", damaged);
  if (newest) {
    spdlog::info("resuming at step {} from {}", newest->step, newest->path.string());
  } else {
    spdlog::warn("{} has no checkpoint to resume from: starting at step 0", root);
  }
  if (trainer.has_best() && !trainer.finished()) {
    const auto problem = problem_of_best(trainer, run.files());
    if (problem) spdlog::warn("{}; the next better validation writes it again", *problem);
  }
  run.truncate_metrics_after(trainer.position().step);
}

void check_best_model(const Trainer& trainer, const RunFiles& files) {
  check(trainer.has_best(),
        "the training diverged: no validation gave a finite error; lower train.lr, or set "
        "train.clip_norm");
  const auto problem = problem_of_best(trainer, files);
  check<IoError>(!problem, problem.value_or(""),
                 "; no later validation was better. Put it back, use ",
                 last_model_path(files).string(),
                 " instead, the weights at the end, or train "
                 "again into another folder with -o");
}

}  // namespace moiety::apps

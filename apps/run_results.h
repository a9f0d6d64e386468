// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "apps/recipe.h"
#include "apps/run_directory.h"
#include "apps/trainer.h"

namespace moiety::apps {

/// Where the weights of the best validation are: checkpoints/best.ckpt.
std::filesystem::path best_model_path(const RunFiles& files);

/// Where the weights at the end of the training are: checkpoints/last.ckpt.
std::filesystem::path last_model_path(const RunFiles& files);

/// After a training: scores the best weights on the test split beside the baselines, writes
/// predictions_test.csv, summary.json and report.html, and prints the result.
void write_results(const Recipe& recipe, const data::Dataset& dataset, const Trainer& trainer,
                   RunDirectory& run, const std::string& stopped_by);

}  // namespace moiety::apps

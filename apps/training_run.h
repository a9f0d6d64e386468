// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "apps/recipe.h"

namespace moiety::apps {

/// Trains what the recipe asks for in the run directory `output`, from the start or from its newest
/// whole checkpoint, and leaves metrics, checkpoints, test predictions, summary and report there.
/// SIGINT, SIGTERM and SIGHUP write a checkpoint and end it with Interrupted. Throws UserError for
/// a recipe or folder that does not fit.
void run_training(const Recipe& recipe, const std::filesystem::path& output, bool resume);

}  // namespace moiety::apps

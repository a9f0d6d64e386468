// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "apps/run_record.h"

namespace moiety::apps {

// The parts of a run's page, each HTML with its heading; "" where the run has nothing to show.

/// The test MAE in large figures, the baselines beside it, and the run in a few facts.
std::string headline(const RunRecord& run);
/// Loss, validation error, learning rate and gradient norm against the epoch.
std::string training_curves(const RunRecord& run);
/// Parity plot and error histogram of each target, and a link to the predictions in `folder`.
std::string test_plots(const RunRecord& run, const std::filesystem::path& folder);
/// MAE, RMSE and R2 by split and target, and of the baselines.
std::string scores_table(const RunRecord& run);
std::string recipe_and_machine(const RunRecord& run);

}  // namespace moiety::apps

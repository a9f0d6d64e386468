// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "apps/run_record.h"

namespace moiety::apps {

// The parts of a run's page, each HTML with its heading; "" where the run has nothing to show.

/// The main test score in large figures, the baselines beside it, and the run in a few facts.
std::string headline(const RunRecord& run);
/// Loss, validation scores, learning rate and gradient norm against the epoch.
std::string training_curves(const RunRecord& run);
/// Of each target a parity plot and an error histogram, or a ROC curve, and a link to the
/// predictions in `folder`.
std::string test_plots(const RunRecord& run, const std::filesystem::path& folder);
/// The scores by split and target, and of the baselines.
std::string scores_table(const RunRecord& run);
std::string recipe_and_machine(const RunRecord& run);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/run_directory.h"
#include "apps/trainer.h"

namespace moiety::apps {

/// Goes on from the newest checkpoint of the run that is whole, and drops the metrics after it; a
/// damaged one is named and passed over. A run without checkpoints begins at step 0. Throws IoError
/// naming all of them when none is whole, and UserError when they are of another data set.
void resume_newest(Trainer& trainer, RunDirectory& run);

/// Throws when a training that has ended has no best weights to show: because it diverged, or,
/// IoError naming the file, because they were lost or damaged.
void check_best_model(const Trainer& trainer, const RunFiles& files);

}  // namespace moiety::apps

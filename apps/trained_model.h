// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "apps/task.h"

namespace moiety::apps {

/// Whether a file begins as checkpoints do, whole or damaged.
bool is_checkpoint(const std::filesystem::path& file);

/// The model of a checkpoint, ready to predict. Throws IoError naming the file when it is damaged
/// or no model.
std::unique_ptr<Task> load_model(const std::filesystem::path& checkpoint, Device& device);

/// Where the best weights of a run directory are; a checkpoint file is its own. Throws UserError
/// where there are none.
std::filesystem::path weights_of(const std::filesystem::path& run_or_checkpoint);

/// The best weights of a run directory, a checkpoint file itself, or a folder that `moiety export`
/// or another library wrote. Throws UserError when there are none.
std::unique_ptr<Task> load_model_of(const std::filesystem::path& run_or_checkpoint, Device& device);

}  // namespace moiety::apps

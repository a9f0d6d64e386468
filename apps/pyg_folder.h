// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "apps/task.h"

namespace moiety::apps {

/// Whether a folder holds the config.json of a graph model for PyTorch Geometric.
bool is_pyg_folder(const std::filesystem::path& folder);

/// Writes config.json and model.safetensors of a graph model, which docs/pyg_model.py loads. Its
/// outputs there are in the targets' own units. Throws UserError for a model of another kind.
void write_pyg_folder(const Task& task, const std::filesystem::path& folder);

/// The reverse. Throws UserError naming the key for a config.json that makes no sense, IoError for
/// weights that do not fit it.
std::unique_ptr<Task> load_pyg_folder(const std::filesystem::path& folder, Device& device);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace moiety::apps {

/// Throws UserError where `path` cannot be a data set, saying what it is instead (nothing, a
/// folder, a recipe, a table) and which command takes that. What is inside is for data::Dataset to
/// check.
void check_dataset_file(const std::filesystem::path& path);

}  // namespace moiety::apps

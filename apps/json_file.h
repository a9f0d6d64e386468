// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace moiety::apps {

/// What a file of settings says, as a config.json. Throws IoError naming the file, and the line and
/// column, where it is missing, no JSON, or larger or deeper than such a file can be.
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace moiety::apps

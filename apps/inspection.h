// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace moiety::apps {

/// What a data set, a run directory or a checkpoint holds, its members in reading order. Throws
/// UserError when there is no such file, and IoError when it is damaged or none of these.
nlohmann::ordered_json inspect(const std::filesystem::path& path);

/// The same for people: a line a member, objects indented, long lists and texts cut short.
std::string format_inspection(const nlohmann::ordered_json& object);

}  // namespace moiety::apps

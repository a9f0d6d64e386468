// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace moiety::apps {

/// Writes `content` to a file beside `path`, flushes it to the disk and renames it: `path` holds
/// the old content or the new one, whatever happens between. Throws IoError naming the path, and
/// UserError where a folder, a pipe or a device is in the way.
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// The whole file. Throws IoError naming the path.
std::string read_file(const std::filesystem::path& path);

}  // namespace moiety::apps

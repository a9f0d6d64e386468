// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace moiety {

/// Throws UserError unless a regular file stands at `path`. A pipe or a device is refused by name:
/// opening it could wait for ever.
void check_input_file(const std::filesystem::path& path);

/// Where a file that is to stand at `path` is put in place: what symbolic links point to, so that
/// they stay. Throws UserError when something other than a regular file is there, which a rename
/// would replace.
std::filesystem::path output_place(const std::filesystem::path& path);

/// Throws UserError when `output` and `input` are one file, whatever their names.
void check_not_input(const std::filesystem::path& output, const std::filesystem::path& input);

/// Throws UserError when there is no folder to write `output` into.
void check_output_folder(const std::filesystem::path& output);

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "tensor/file_paths.h"

#include <system_error>

#include "tensor/error.h"

namespace moiety {
namespace {

namespace fs = std::filesystem;

/// As in Linux.
constexpr int kMostLinks = 40;

}  // namespace

void check_input_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check<UserError>(status.type() != fs::file_type::not_found, "there is no file ", path.string());
  check<UserError>(status.type() != fs::file_type::none, path.string(),
                   ": cannot be read: ", error.message());
  check<UserError>(!fs::is_directory(status), path.string(), " is a folder, not a file");
  check<UserError>(fs::is_regular_file(status), path.string(),
                   " is a pipe or a device, not a file; write its content to a file first");
}

fs::path output_place(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check<UserError>(!fs::is_directory(status), path.string(),
                   " is a folder; name a file to write in it");
  check<UserError>(!fs::exists(status) || fs::is_regular_file(status), path.string(),
                   " is a pipe or a device; results are written to files alone");
  fs::path place = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, error)); ++links) {
    check<UserError>(links < kMostLinks, path.string(), ": its symbolic links lead nowhere");
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  return place;
}

void check_not_input(const fs::path& output, const fs::path& input) {
  std::error_code one_is_missing;
  check<UserError>(!fs::equivalent(output, input, one_is_missing), "the output ", output.string(),
                   " is the input ", input.string(),
                   ", which would be lost; write to another file");
}

void check_output_folder(const fs::path& output) {
  const fs::path folder = output_place(output).parent_path();
  std::error_code error;
  check<UserError>(folder.empty() || fs::is_directory(folder, error), "there is no folder ",
                   folder.string(), " for ", output.filename().string(), "; make it first");
}

}  // namespace moiety

// SPDX-License-Identifier: Apache-2.0
#include "apps/dataset_file.h"

#include <algorithm>
#include <string>

#include "tensor/error.h"

namespace moiety::apps {

void check_dataset_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (!std::filesystem::exists(path)) {
    const std::string looked_for =
        path.is_absolute() ? ""
                           : concat(" (looked for ", std::filesystem::absolute(path).string(), ")");
    throw UserError(
        concat(name, ": no such data set", looked_for, "; make it with `moiety prepare`"));
  }
  check<UserError>(!std::filesystem::is_directory(path), name, " is a folder, not a data set");
  const std::string ending = path.extension().string();
  check<UserError>(ending != ".toml", name, " is a recipe, not a data set; `moiety recipe ", name,
                   "` checks and completes it");
  const auto tables = {".csv", ".tsv", ".smi"};
  check<UserError>(std::ranges::find(tables, ending) == tables.end(), name,
                   " is a table, not a data set; make one of it with `moiety prepare ", name,
                   " -o DATA.h5 --target NAME`");
}

}  // namespace moiety::apps

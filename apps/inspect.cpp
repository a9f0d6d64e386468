// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/commands.h"
#include "apps/inspection.h"

namespace moiety::apps {

void add_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a data set, a run or a checkpoint holds");
  command->add_option("PATH", *path, "A file or a run's folder")->required();
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([path, as_json] {
    const nlohmann::ordered_json found = inspect(*path);
    fmt::print("{}", *as_json ? found.dump(2) + "\n" : format_inspection(found));
  });
}

}  // namespace moiety::apps

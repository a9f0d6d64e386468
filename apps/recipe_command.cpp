// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/recipe.h"

namespace moiety::apps {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> overrides;
};

}  // namespace

void add_recipe(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "recipe", "List the keys of a recipe with their defaults, or check a recipe and complete it");
  const auto options = std::make_shared<Options>();
  CLI::Option* file = command->add_option("RECIPE", options->file, "A recipe to check");
  command->add_option("--set", options->overrides, "Override a key: section.key=value")
      ->needs(file)
      ->allow_extra_args(false);
  command->callback([options] {
    const Recipe recipe =
        options->file.empty() ? Recipe{} : read_recipe(options->file, options->overrides);
    fmt::print("{}", to_toml(recipe));
  });
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/commands.h"
#include "apps/device_option.h"
#include "apps/recipe.h"
#include "apps/training_run.h"

namespace moiety::apps {
namespace {

struct TrainArguments {
  std::string recipe;
  std::vector<std::string> overrides;
  std::string output;
  std::string device;
  bool resume = false;
};

void train(const TrainArguments& arguments) {
  Recipe recipe = read_recipe(arguments.recipe, arguments.overrides);
  if (!arguments.device.empty()) recipe.run.device = arguments.device;
  std::filesystem::path output = arguments.output;
  if (output.empty()) {
    output = std::filesystem::path("runs") / std::filesystem::path(arguments.recipe).stem();
  }
  run_training(recipe, output, arguments.resume);
}

}  // namespace

void add_train(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand("train", "Train the model of a recipe on a data set");
  command->add_option("recipe", arguments->recipe, "Recipe (TOML)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--set", arguments->overrides, "section.key=value, over the recipe's own")
      ->allow_extra_args(false);
  command->add_option("-o,--output", arguments->output,
                      "Folder of the run (default: runs/ and the recipe's name)");
  CLI::Option* device = add_device_option(*command, arguments->device);
  device->description("Over the recipe's run.device: " + device->get_description());
  command->add_flag("--resume", arguments->resume, "Go on from the newest checkpoint of the run");
  command->callback([arguments] { train(*arguments); });
}

}  // namespace moiety::apps

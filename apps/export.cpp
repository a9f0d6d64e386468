// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/commands.h"
#include "apps/huggingface_folder.h"
#include "apps/pyg_folder.h"
#include "apps/trained_model.h"

namespace moiety::apps {
namespace {

struct ExportArguments {
  std::string run;
  std::string format;
  std::string output;
  bool overwrite = false;
};

void export_model(const ExportArguments& arguments) {
  const std::filesystem::path folder = arguments.output;
  check<UserError>(arguments.overwrite || !std::filesystem::exists(folder / "config.json"),
                   arguments.output, " holds a model; give --overwrite or another -o");
  check<UserError>(!std::filesystem::exists(folder / "recipe.toml"), arguments.output,
                   " is a run; give another -o");
  const auto device = make_device("cpu", 0);
  const auto task = load_model_of(arguments.run, *device);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check<UserError>(!error, arguments.output, ": cannot make the folder: ", error.message());
  (arguments.format == "pyg" ? write_pyg_folder : write_huggingface_folder)(*task, folder);
  fmt::print("{}: {} parameters for {}\n", arguments.output, task->model().parameter_count(),
             arguments.format == "pyg" ? "PyTorch Geometric, see docs/pyg_model.py"
                                       : "from_pretrained of HuggingFace's transformers");
}

}  // namespace

void add_export(CLI::App& app) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Write a trained model for another library");
  command->add_option("run", arguments->run, "Run directory, or a checkpoint file")->required();
  command
      ->add_option("--format", arguments->format,
                   "huggingface: RoBERTa or GPT-2, with the tokenizer; pyg: PyTorch Geometric")
      ->required()
      ->check(CLI::IsMember({"huggingface", "pyg"}));
  command->add_option("-o,--output", arguments->output, "The folder to write")->required();
  command->add_flag("--overwrite", arguments->overwrite, "Replace a model that is in the folder");
  command->callback([arguments] { export_model(*arguments); });
}

}  // namespace moiety::apps

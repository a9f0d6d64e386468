// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "apps/dataset_file.h"
#include "apps/device_option.h"
#include "apps/memory_use.h"
#include "apps/metrics.h"
#include "apps/trained_model.h"

namespace moiety::apps {
namespace {

struct EvaluateArguments {
  std::string run;
  std::string data;
  std::string split = "test";
  int threads = 0;
  std::string device = "auto";
  bool json = false;
};

void print_scores(const SplitScores& scores) {
  for (const TargetScores& target : scores.targets) {
    std::string line = target.name.empty() ? "" : fmt::format("{:<20} ", target.name);
    for (std::size_t i = 0; i < target.values.size(); ++i) {
      const Metric& metric = scores.set->metrics[i];
      const std::string unit = metric.has_unit && !target.unit.empty() ? " " + target.unit : "";
      line += fmt::format("{} {:.5g}{}   ", metric.title, target.values[i], unit);
    }
    fmt::print("{}{} {}\n", line, target.count, scores.set->counted);
  }
}

void evaluate_on(Device& device, const EvaluateArguments& arguments) {
  const std::unique_ptr<Task> task = load_model_of(arguments.run, device);
  check_dataset_file(arguments.data);
  const data::Dataset dataset(arguments.data);
  task->check_data(dataset);
  const auto rows = dataset.split(data::parse_split(arguments.split));
  check<UserError>(!rows.empty(), arguments.data, " has no molecules in its ", arguments.split,
                   " split");
  const SplitScores scores = task->evaluate(dataset, rows);
  if (arguments.json) {
    fmt::print("{}\n", to_json(scores).dump(2));
  } else {
    print_scores(scores);
  }
}

void evaluate(const EvaluateArguments& arguments) {
  const auto device = open_device(arguments.device, arguments.threads);
  with_advice([&] { return memory_advice(*device); }, [&] { evaluate_on(*device, arguments); });
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command = app.add_subcommand("evaluate", "Score a trained model on a data set");
  command->add_option("run", arguments->run, "Run directory, or a checkpoint file")->required();
  command->add_option("data", arguments->data, "Data set made by `moiety prepare`")->required();
  command->add_option("--split", arguments->split, "train, valid or test")->capture_default_str();
  add_device_option(*command, arguments->device)->capture_default_str();
  command->add_option("--threads", arguments->threads, "CPU threads; 0 = one a core");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/device_option.h"
#include "apps/memory_use.h"
#include "apps/prediction_table.h"
#include "apps/run_directory.h"
#include "apps/text_file.h"
#include "apps/trained_model.h"
#include "data/row_source.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

struct PredictArguments {
  std::string run;
  std::string input;
  std::string output;
  std::string smiles;
  std::string id;
  int threads = 0;
  std::string device = "auto";
};

/// Rows that are converted and predicted at a time: memory stays bounded for any input.
constexpr std::size_t kRowsAtATime = 4096;

void predict_block(const Task& task, const std::vector<data::SourceRow>& rows,
                   PredictionTable& table) {
  const auto predicted = task.predict(rows, table.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.add(rows[i].id, rows[i].smiles, predicted[i].values, predicted[i].problem);
  }
}

std::string progress_note(const PredictionTable& table) {
  return fmt::format("{} rows", table.rows());
}

void predict_text(const Task& task, const PredictArguments& arguments, PredictionTable& table,
                  ProgressBar& bar) {
  task.check_texts(arguments.input);
  const auto source = data::open_source(
      arguments.input,
      {.smiles = arguments.smiles, .id = arguments.id, .targets = {}, .split = ""});
  const auto bytes = static_cast<double>(std::filesystem::file_size(arguments.input));
  std::vector<data::SourceRow> rows;
  data::SourceRow row;
  bool more = true;
  while (more) {
    more = source->next(row);
    if (more) rows.push_back(std::move(row));
    if (!rows.empty() && (!more || rows.size() == kRowsAtATime)) {
      predict_block(task, rows, table);
      rows.clear();
      bar.update(static_cast<double>(source->bytes_read()) / bytes, progress_note(table));
    }
  }
}

void predict_dataset(const Task& task, const PredictArguments& arguments, PredictionTable& table,
                     ProgressBar& bar) {
  const data::Dataset dataset(arguments.input);
  task.check_data(dataset);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset.size()));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtATime) {
    const auto some = std::span(rows).subspan(begin, std::min(kRowsAtATime, rows.size() - begin));
    const auto predicted = task.predict(dataset, some);
    const auto ids = dataset.ids(some);
    const auto smiles = dataset.smiles(some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      table.add(ids[i], smiles[i], predicted[i].values, predicted[i].problem);
    }
    bar.update(static_cast<double>(table.rows()) / static_cast<double>(rows.size()),
               progress_note(table));
  }
}

/// Before the work, not after it: the table must have a place and replace nothing that is read.
void check_output(const PredictArguments& arguments) {
  check_output_folder(arguments.output);
  check_not_input(arguments.output, arguments.input);
  const RunFiles files{arguments.run};
  if (std::filesystem::is_directory(files.root)) {
    check_not_of_run(files, arguments.output, files.predictions());
  } else {
    check_not_input(arguments.output, files.root);
  }
}

void predict_on(Device& device, const PredictArguments& arguments) {
  const std::unique_ptr<Task> task = load_model_of(arguments.run, device);
  PredictionTable table(task->columns());
  ProgressBar bar("predict");
  if (std::filesystem::path(arguments.input).extension() == ".h5") {
    predict_dataset(*task, arguments, table, bar);
  } else {
    predict_text(*task, arguments, table, bar);
  }
  if (table.rows() > static_cast<std::int64_t>(kRowsAtATime)) bar.finish(1, progress_note(table));
  write_atomically(arguments.output, table.text());
  fmt::print("{}: {} rows: {} predicted, {} without a prediction\n", arguments.output, table.rows(),
             table.rows() - table.problems(), table.problems());
}

void predict(const PredictArguments& arguments) {
  check_input_file(arguments.input);
  check_output(arguments);
  const auto device = open_device(arguments.device, arguments.threads);
  with_advice([&] { return memory_advice(*device); }, [&] { predict_on(*device, arguments); });
}

}  // namespace

void add_predict(CLI::App& app) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand("predict", "Predict with a trained model, row by row");
  command->add_option("run", arguments->run, "Run directory, or a checkpoint file")->required();
  command->add_option("input", arguments->input, "Data set (.h5), table (.csv) or SMILES (.smi)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-o,--output", arguments->output, "Table of predictions (CSV)")->required();
  command->add_option("--smiles", arguments->smiles,
                      "Column of the SMILES (guessed when not given)");
  command->add_option("--id", arguments->id, "Column of identifiers");
  add_device_option(*command, arguments->device)->capture_default_str();
  command->add_option("--threads", arguments->threads, "CPU threads; 0 = one a core");
  command->callback([arguments] { predict(*arguments); });
}

}  // namespace moiety::apps

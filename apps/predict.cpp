// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/device_option.h"
#include "apps/evaluation.h"
#include "apps/memory_use.h"
#include "apps/prediction_table.h"
#include "apps/run_directory.h"
#include "apps/text_file.h"
#include "apps/trained_model.h"
#include "data/collate.h"
#include "data/convert.h"
#include "data/featurize.h"
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

std::vector<data::ConvertedRow> convert(const std::vector<data::SourceRow>& rows, Device& device) {
  std::vector<data::ConvertedRow> out(rows.size());
  device.host().stream().pool().run(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    out[at] = data::convert_row(rows[at], {});
  });
  return out;
}

/// Appends one line a row, in order; a row that is no molecule gets its reason in place of numbers.
void predict_block(const TrainedModel& trained, const std::vector<data::SourceRow>& rows,
                   Device& device, PredictionTable& table) {
  std::vector<data::ConvertedRow> converted = convert(rows, device);
  std::vector<data::MoleculeRecord> molecules;
  for (data::ConvertedRow& row : converted) {
    if (row.molecule) molecules.push_back(std::move(*row.molecule));
  }
  const auto collate = [&](std::int64_t nodes) {
    return data::collate_parts(molecules, data::ogb_schema(), 0, nodes, device.host());
  };
  const auto values = predict_in_parts(*trained.model, trained.spec.scaler(), collate, device);
  const std::size_t width = trained.spec.targets.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (converted[i].molecule) {
      table.add(rows[i].id, rows[i].smiles, std::span(values).subspan(next * width, width), "");
      ++next;
    } else {
      table.add(rows[i].id, rows[i].smiles, {}, converted[i].rejection.reason);
    }
  }
}

std::string progress_note(const PredictionTable& table) {
  return fmt::format("{} rows", table.rows());
}

void predict_text(const TrainedModel& trained, const PredictArguments& arguments, Device& device,
                  PredictionTable& table, ProgressBar& bar) {
  check_features(trained.spec, data::ogb_schema(), arguments.input);
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
      predict_block(trained, rows, device, table);
      rows.clear();
      bar.update(static_cast<double>(source->bytes_read()) / bytes, progress_note(table));
    }
  }
}

void predict_dataset(const TrainedModel& trained, const PredictArguments& arguments, Device& device,
                     PredictionTable& table, ProgressBar& bar) {
  const data::Dataset dataset(arguments.input);
  check_features(trained.spec, dataset.info().features, arguments.input);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset.size()));
  std::iota(rows.begin(), rows.end(), 0);
  const std::size_t width = trained.spec.targets.size();
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtATime) {
    const auto some = std::span(rows).subspan(begin, std::min(kRowsAtATime, rows.size() - begin));
    const Predictions predictions =
        predict_rows(*trained.model, trained.spec, dataset, some, {}, /*names=*/true, device);
    for (std::size_t i = 0; i < some.size(); ++i) {
      table.add(predictions.id[i], predictions.smiles[i],
                std::span(predictions.prediction).subspan(i * width, width), "");
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
  const TrainedModel trained = load_model_of(arguments.run, device);
  PredictionTable table(trained.spec.targets);
  ProgressBar bar("predict");
  if (std::filesystem::path(arguments.input).extension() == ".h5") {
    predict_dataset(trained, arguments, device, table, bar);
  } else {
    predict_text(trained, arguments, device, table, bar);
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

// SPDX-License-Identifier: Apache-2.0
#include "data/prepare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/seed.h"
#include "apps/suggest.h"
#include "data/table.h"
#include "data/units.h"
#include "tensor/device.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

struct PrepareFlags {
  std::vector<std::string> sources;
  std::string output;
  std::vector<std::string> targets;
  std::vector<std::string> units;
  std::string smiles;
  std::string id;
  std::string delimiter;
  std::string task = "regression";
  std::string tokenizer;
  std::string split = "random";
  std::string split_column;
  std::string seed = "0";
  int threads = 0;
  bool overwrite = false;
};

char parse_delimiter(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  if (text == "comma") return ',';
  if (text == "semicolon") return ';';
  if (text == "pipe") return '|';
  check<UserError>(text.size() == 1, "--delimiter ", text,
                   ": use one of comma, semicolon, pipe, tab, space, or the character itself");
  return text.front();
}

bool is_language_model(const PrepareFlags& flags) {
  return flags.task == "mlm" || flags.task == "causal";
}

std::vector<data::TargetSpec> parse_targets(const PrepareFlags& flags) {
  const std::vector<std::string> tasks = {"regression", "binary", "multilabel", "mlm", "causal"};
  check<UserError>(std::find(tasks.begin(), tasks.end(), flags.task) != tasks.end(), "--task ",
                   flags.task, " is none of regression, binary, multilabel, mlm, causal",
                   did_you_mean(flags.task, tasks));
  check<UserError>(!is_language_model(flags) || flags.targets.empty(), "--task ", flags.task,
                   " learns the SMILES themselves and takes no --target; for targets say --task "
                   "regression, binary or multilabel, and --tokenizer for a model of SMILES");
  check<UserError>(flags.units.empty() || flags.units.size() == flags.targets.size(), "--unit has ",
                   flags.units.size(), " units for ", flags.targets.size(),
                   " targets; give one for each, in the same order");
  std::vector<data::TargetSpec> targets;
  for (std::size_t t = 0; t < flags.targets.size(); ++t) {
    const std::string& name = flags.targets[t];
    std::string unit = flags.units.empty() ? data::unit_from_name(name) : flags.units[t];
    targets.push_back({name, std::move(unit), flags.task});
  }
  return targets;
}

data::SplitPlan parse_split(const PrepareFlags& flags) {
  using Kind = data::SplitPlan::Kind;
  data::SplitPlan plan;
  plan.seed = parse_seed(flags.seed);
  // A language model learns from every molecule, and there are many to judge it by.
  if (is_language_model(flags)) plan.fractions = {.train = 0.9, .valid = 0.05, .test = 0.05};
  check<UserError>(flags.split == "column" || flags.split_column.empty(), "--split-column ",
                   flags.split_column, " goes with --split column");
  if (flags.split == "random") return plan;
  plan.kind = flags.split == "scaffold" ? Kind::scaffold
              : flags.split == "column" ? Kind::column
                                        : Kind::file;
  if (plan.kind != Kind::file) return plan;
  plan.file = flags.split;
  const std::vector<std::string> words = {"random", "scaffold", "column"};
  check<UserError>(std::filesystem::exists(plan.file), "--split ", flags.split,
                   " is neither random, scaffold, column nor a file",
                   did_you_mean(flags.split, words));
  return plan;
}

data::TokenPlan parse_tokens(const PrepareFlags& flags) {
  data::TokenPlan plan;
  plan.wanted = is_language_model(flags) || !flags.tokenizer.empty();
  plan.tokenizer = flags.tokenizer;
  if (flags.task == "mlm") plan.roles = {data::TokenRole::mask};
  if (flags.task == "causal") plan.roles = {data::TokenRole::begin, data::TokenRole::end};
  return plan;
}

data::PrepareOptions options_of(const PrepareFlags& flags) {
  data::PrepareOptions options;
  options.sources.assign(flags.sources.begin(), flags.sources.end());
  options.output = flags.output;
  options.targets = parse_targets(flags);
  options.smiles_column = flags.smiles;
  options.id_column = flags.id;
  if (flags.split == "column") {
    options.split_column = flags.split_column.empty() ? "split" : flags.split_column;
  }
  options.delimiter = parse_delimiter(flags.delimiter);
  options.split = parse_split(flags);
  options.graphs = !is_language_model(flags);
  options.tokens = parse_tokens(flags);
  options.threads = flags.threads > 0 ? flags.threads : available_cores();
  options.overwrite = flags.overwrite;
  check<UserError>(flags.overwrite || !std::filesystem::exists(flags.output), flags.output,
                   " exists; give --overwrite or another -o");
  return options;
}

void print_tokens(const data::TokenReport& report, const PrepareFlags& flags,
                  std::int64_t molecules) {
  fmt::print("{} tokens, {:.1f} a molecule, at most {}; a vocabulary of {}\n", report.tokens,
             static_cast<double>(report.tokens) / static_cast<double>(molecules), report.longest,
             report.vocabulary);
  if (report.learned) {
    constexpr std::size_t kShown = 24;
    const auto shown = std::span(report.words).first(std::min(kShown, report.words.size()));
    fmt::print(
        "its {} words were learned from these SMILES and a random one of each molecule: {}{}\n",
        report.words.size(), fmt::join(shown, " "),
        shown.size() < report.words.size() ? " ..." : "");
  }
  if (report.unknown_molecules > 0) {
    fmt::print("warning: {} molecules hold what {} does not know; the first: {}\n",
               report.unknown_molecules, flags.tokenizer, report.first_unknown);
  }
}

void print_report(const data::PrepareReport& report, const PrepareFlags& flags, double seconds) {
  fmt::print("{}: {} molecules of {} rows in {:.1f} s; train {}, valid {}, test {}\n", flags.output,
             report.molecules, report.rows, seconds, report.train, report.valid, report.test);
  if (report.tokens.vocabulary > 0) print_tokens(report.tokens, flags, report.molecules);
  if (flags.targets.empty() && !is_language_model(flags)) {
    fmt::print("it has no targets: a model can predict on it, not learn from it; see --target\n");
  }
  if (report.duplicates > 0) {
    fmt::print("{} molecules occur more than once; all are kept\n", report.duplicates);
  }
  if (report.test_in_train > 0) {
    fmt::print(
        "warning: {} of the {} test molecules occur in train as well, so the test error will look "
        "too good; --split scaffold keeps copies of a molecule together\n",
        report.test_in_train, report.test);
  }
  if (report.rejected == 0) return;
  fmt::print("{} rows rejected, listed in {}:\n", report.rejected, report.rejects_file.string());
  for (const auto& [kind, count] : report.rejected_by_kind) fmt::print("  {:>8} {}\n", count, kind);
}

data::PrepareReport prepare_with_bar(const data::PrepareOptions& options) {
  ProgressBar bar("prepare");
  const auto note = [](const data::PrepareProgress& p) {
    return fmt::format("{} molecules, {} rejected", p.molecules, p.rejected);
  };
  std::string last;
  const auto report = data::prepare(options, [&](const data::PrepareProgress& p) {
    const auto total = static_cast<double>(std::max<std::int64_t>(1, p.total_bytes));
    last = note(p);
    bar.update(static_cast<double>(p.bytes) / total, last);
  });
  bar.finish(1, last);
  return report;
}

void run_prepare(const PrepareFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  try {
    const auto report = prepare_with_bar(options_of(flags));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    print_report(report, flags, seconds.count());
  } catch (const data::UnknownColumn& error) {
    throw UserError(error.what() + did_you_mean(error.name(), error.columns()));
  }
}

}  // namespace

void add_prepare(CLI::App& app) {
  auto* command = app.add_subcommand("prepare", "Turn tables of molecules into a data set");
  auto flags = std::make_shared<PrepareFlags>();
  command->add_option("SOURCE", flags->sources, "Tables (.csv, .tsv, ...) or SMILES lines (.smi)")
      ->required();
  command->add_option("-o,--output", flags->output, "The data set to write (.h5)")->required();
  command->add_option("--target", flags->targets, "Columns to learn, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--unit", flags->units,
                   "Their units; guessed from names such as gap_ev otherwise")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--smiles", flags->smiles, "Column of SMILES; guessed otherwise");
  command->add_option("--id", flags->id, "Column of identifiers");
  command->add_option("--delimiter", flags->delimiter,
                      "comma, semicolon, pipe, tab or space; detected otherwise");
  command
      ->add_option("--task", flags->task,
                   "regression, binary (a target of 0 and 1), multilabel (several), or a language "
                   "model of the SMILES: mlm (masked), causal")
      ->capture_default_str();
  command->add_option("--tokenizer", flags->tokenizer,
                      "A tokenizer's folder: store the SMILES as its tokens as well. A language "
                      "model's words are learned from the SMILES otherwise");
  command
      ->add_option(
          "--split", flags->split,
          "random, scaffold (each 80/10/10, for a language model 90/5/5), column, or a file of "
          "rows (JSON, or row,split)")
      ->capture_default_str();
  command->add_option("--split-column", flags->split_column,
                      "Column that says train, valid or test, for --split column (default: split)");
  command->add_option("--seed", flags->seed, "Seed of the random split")->capture_default_str();
  command->add_option("--threads", flags->threads, "Threads; 0 takes all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--overwrite", flags->overwrite, "Replace an existing data set");
  command->callback([flags] { run_prepare(*flags); });
}

}  // namespace moiety::apps

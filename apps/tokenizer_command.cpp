// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/seed.h"
#include "apps/tokenizer_training.h"
#include "data/tokenizer.h"
#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

struct TrainFlags {
  TokenizerTraining training;
  std::vector<std::string> sources;
  std::string output;
  std::string seed = "0";
  bool overwrite = false;
};

void print_report(const TokenizerReport& report, const TrainFlags& flags, double seconds) {
  fmt::print("{}: {} tokens, learned from {} texts in {:.1f} s; {:.1f} tokens a text\n",
             flags.output, report.vocabulary, report.texts, seconds,
             static_cast<double>(report.tokens) / static_cast<double>(report.texts));
  if (report.left_out.count > 0) {
    fmt::print("{} rows left out; the first: {}\n", report.left_out.count, report.left_out.first);
  }
  if (report.not_back.count > 0) {
    fmt::print("{} texts do not come back from their ids; the first: {}\n", report.not_back.count,
               report.not_back.first);
  }
}

void run_train(TrainFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  flags.training.seed = parse_seed(flags.seed);
  flags.training.sources.assign(flags.sources.begin(), flags.sources.end());
  for (const auto& source : flags.training.sources) check_input_file(source);
  const std::filesystem::path folder = flags.output;
  for (const char* name : {"vocab.json", "vocab.txt", "tokenizer.json"}) {
    check<UserError>(flags.overwrite || !std::filesystem::exists(folder / name), flags.output,
                     " holds a tokenizer; give --overwrite or another -o");
  }
  ProgressBar bar("tokenizer");
  const TokenizerReport report = train_tokenizer(
      flags.training, folder, [&](double fraction) { bar.update(fraction, flags.training.kind); });
  bar.finish(1, flags.training.kind);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print_report(report, flags, seconds.count());
}

void add_tokenizer_train(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Learn a vocabulary from the SMILES of tables");
  auto flags = std::make_shared<TrainFlags>();
  auto& training = flags->training;
  command->add_option("SOURCE", flags->sources, "Tables (.csv, .tsv, ...) or SMILES lines (.smi)")
      ->required();
  command->add_option("-o,--output", flags->output, "The folder to write")->required();
  command
      ->add_option("--kind", training.kind,
                   "smiles: a token an atom, a bond or a bracket, as DeepChem's SmilesTokenizer; "
                   "bpe: frequent runs of bytes, as RoBERTa and ChemBERTa")
      ->required();
  command
      ->add_option("--size", training.size, "Tokens at most; 0 is all for smiles and 600 for bpe")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  command
      ->add_option("--min-frequency", training.min_frequency,
                   "Leave out what is rarer; 0 is 1 for smiles and 2 for bpe")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command
      ->add_option("--random", training.random,
                   "Learn from as many random SMILES of each molecule as well")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "Seed of the random SMILES")->capture_default_str();
  command->add_option("--smiles", training.smiles_column, "Column of SMILES; guessed otherwise");
  command->add_flag("--overwrite", flags->overwrite, "Replace an existing tokenizer");
  command->callback([flags] { run_train(*flags); });
}

struct EncodeFlags {
  std::string folder;
  std::vector<std::string> texts;
  std::string input;
};

/// Prints texts line by line and tells of those that do not come back from their ids.
class EncodePrinter {
 public:
  explicit EncodePrinter(const data::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// The ids, a tab, the tokens; nothing but the line's end where the text cannot be encoded.
  void print(const std::string& text, const std::string& place) {
    ++texts_;
    std::string problem;
    try {
      const data::Encoded encoded = tokenizer_.encode(text);
      problem = data::round_trip_problem(tokenizer_, text, encoded);
      std::vector<std::string> tokens;
      for (const auto id : encoded.ids) tokens.push_back(tokenizer_.vocabulary().token(id));
      fmt::print("{}\t{}\n", fmt::join(encoded.ids, " "), fmt::join(tokens, " "));
    } catch (const UserError& error) {
      problem = error.what();
      fmt::print("\n");
    }
    if (problem.empty()) return;
    ++problems_;
    print_notice(concat(place, ": ", problem));
  }

  void print_lines(std::istream& lines, const std::string& name) {
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      print(line, concat(name, ":", ++number));
    }
    check<IoError>(!lines.bad(), name, ": cannot be read");
  }

  /// Throws UserError where a text did not come back.
  void finish() const {
    check<UserError>(problems_ == 0, problems_, " of ", texts_,
                     " texts do not come back from their ids");
  }

 private:
  const data::Tokenizer& tokenizer_;
  std::int64_t texts_ = 0;
  std::int64_t problems_ = 0;
};

void run_encode(const EncodeFlags& flags) {
  const auto tokenizer = data::load_tokenizer(flags.folder);
  EncodePrinter printer(*tokenizer);
  for (std::size_t i = 0; i < flags.texts.size(); ++i) {
    printer.print(flags.texts[i], concat("text ", i + 1));
  }
  if (!flags.input.empty()) {
    check_input_file(flags.input);
    std::ifstream file(flags.input, std::ios::binary);
    check<UserError>(file.is_open(), "cannot open ", flags.input);
    printer.print_lines(file, flags.input);
  } else if (flags.texts.empty()) {
    printer.print_lines(std::cin, "standard input");
  }
  printer.finish();
}

void add_tokenizer_encode(CLI::App& app) {
  auto* command = app.add_subcommand("encode", "Show the ids and tokens of texts, a line each");
  auto flags = std::make_shared<EncodeFlags>();
  command
      ->add_option("DIR", flags->folder,
                   "A tokenizer's folder: vocab.json and merges.txt, or vocab.txt")
      ->required();
  command->add_option("TEXT", flags->texts, "Texts; lines of the standard input otherwise");
  command->add_option("-i,--input", flags->input, "A file with a text a line");
  command->callback([flags] { run_encode(*flags); });
}

}  // namespace

void add_tokenizer(CLI::App& app) {
  auto* command = app.add_subcommand("tokenizer", "Learn a vocabulary of SMILES, or encode texts");
  command->require_subcommand(1);
  add_tokenizer_train(*command);
  add_tokenizer_encode(*command);
}

}  // namespace moiety::apps

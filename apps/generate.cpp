// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/device_option.h"
#include "apps/generative_model.h"
#include "apps/molecule_scores.h"
#include "apps/recipe.h"
#include "apps/run_directory.h"
#include "apps/seed.h"
#include "apps/text_file.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

struct GenerateArguments {
  std::string model;
  std::string output;
  std::string json;
  std::string prompt;
  std::string trained_on;
  std::string seed = "0";
  std::int64_t count = 1000;
  nn::GenerationOptions options;
  int threads = 0;
  std::string device = "auto";
};

/// What was written, and how fast.
struct Texts {
  std::vector<std::string> texts;
  std::int64_t ended = 0;   ///< with the token that ends a text, not with its longest length
  std::int64_t tokens = 0;  ///< that were drawn
  double seconds = 0;

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
};

Texts write_texts(const GenerativeModel& model, const GenerateArguments& arguments) {
  nn::GenerationOptions options = arguments.options;
  options.seed = parse_seed(arguments.seed);
  options.end_token = model.tokenizer->vocabulary().id(data::TokenRole::end);
  const auto count = static_cast<std::size_t>(arguments.count);
  const nn::TokenSequence prompt = encode_prompt(model, arguments.prompt);
  const std::vector<nn::TokenSequence> prompts(count, prompt);
  ProgressBar bar("generate");
  const auto start = std::chrono::steady_clock::now();
  const auto sequences = nn::generate(*model.model, prompts, options, [&](std::int64_t done) {
    bar.update(static_cast<double>(done) / static_cast<double>(count),
               fmt::format("{} texts", done));
  });
  Texts out;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const nn::TokenSequence& sequence : sequences) {
    out.texts.push_back(decode_text(model, sequence));
    out.tokens += std::ssize(sequence) - std::ssize(prompt);
    out.ended += options.end_token && sequence.back() == *options.end_token ? 1 : 0;
  }
  return out;
}

/// A text is a line: what would end one early becomes a blank.
std::string to_lines(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c;
    out += '\n';
  }
  return out;
}

nlohmann::ordered_json to_json(const GenerateArguments& arguments, const Texts& texts,
                               const MoleculeScores& scores) {
  const nn::SamplingRule& rule = arguments.options.sampling;
  nlohmann::ordered_json out = {{"model", arguments.model},
                                {"texts", scores.texts},
                                {"valid", scores.valid},
                                {"unique", scores.unique},
                                {"validity", scores.validity()},
                                {"uniqueness", scores.uniqueness()},
                                {"ended", texts.ended},
                                {"tokens", texts.tokens},
                                {"seconds", texts.seconds},
                                {"tokens_per_second", texts.tokens_per_second()},
                                {"temperature", rule.temperature},
                                {"top_k", rule.top_k},
                                {"top_p", rule.top_p},
                                {"seed", parse_seed(arguments.seed)},
                                {"prompt", arguments.prompt}};
  if (scores.novel) {
    out["novel"] = *scores.novel;
    out["novelty"] = *scores.novelty();
    out["trained_on"] = arguments.trained_on;
  }
  return out;
}

void print_scores(const GenerateArguments& arguments, const Texts& texts,
                  const MoleculeScores& scores) {
  fmt::print("{}: {} texts, {} tokens in {:.1f} s, {:.0f} tokens/s\n", arguments.output,
             scores.texts, texts.tokens, texts.seconds, texts.tokens_per_second());
  if (texts.ended < scores.texts) {
    fmt::print("{} are cut off at the longest length\n", scores.texts - texts.ended);
  }
  fmt::print("validity   {:6.1f} %  {} are SMILES of a molecule\n", 100 * scores.validity(),
             scores.valid);
  fmt::print("uniqueness {:6.1f} %  {} different molecules among these\n",
             100 * scores.uniqueness(), scores.unique);
  if (const auto novelty = scores.novelty()) {
    fmt::print("novelty    {:6.1f} %  {} of them not in {}\n", 100 * *novelty, *scores.novel,
               arguments.trained_on);
  }
}

/// Before the work, not after it.
void check_files(const GenerateArguments& arguments) {
  for (const std::string& output : {arguments.output, arguments.json}) {
    if (output.empty()) continue;
    check_output_folder(output);
    for (const char* name : {"config.json", "model.safetensors"}) {
      check_not_input(output, std::filesystem::path(arguments.model) / name);
    }
    check_not_of_run(RunFiles{arguments.model}, output, {});
    if (!arguments.trained_on.empty()) check_not_input(output, arguments.trained_on);
  }
  if (!arguments.trained_on.empty()) check_input_file(arguments.trained_on);
}

/// What a run's recipe trained on, where that is still there.
std::string training_data(const std::string& model) {
  const RunFiles files{model};
  if (!std::filesystem::is_regular_file(files.recipe())) return "";
  std::string path = read_recipe(files.recipe()).data.path;
  return std::filesystem::is_regular_file(path) ? path : "";
}

void generate(GenerateArguments& arguments) {
  nn::check_rule(arguments.options.sampling);
  parse_seed(arguments.seed);
  if (arguments.trained_on.empty()) arguments.trained_on = training_data(arguments.model);
  check_files(arguments);
  const auto device = open_device(arguments.device, arguments.threads);
  ThreadPool& pool = device->host().stream().pool();
  const GenerativeModel model = load_generative_model(arguments.model, *device);
  const Texts texts = write_texts(model, arguments);
  write_atomically(arguments.output, to_lines(texts.texts));

  std::optional<MoleculeSet> trained;
  if (!arguments.trained_on.empty()) {
    ProgressBar bar("molecules");
    trained = read_molecules(arguments.trained_on, pool,
                             [&](double done) { bar.update(done, arguments.trained_on); });
  }
  const MoleculeScores scores = score_molecules(texts.texts, trained ? &*trained : nullptr, pool);
  if (!arguments.json.empty()) {
    write_atomically(arguments.json, to_json(arguments, texts, scores).dump(2) + "\n");
  }
  print_scores(arguments, texts, scores);
}

void add_sampling_options(CLI::App& command, GenerateArguments& arguments) {
  nn::SamplingRule& rule = arguments.options.sampling;
  command
      .add_option("--temperature", rule.temperature,
                  "Below 1 likelier texts, above 1 more varied ones; 0 takes the likeliest token")
      ->capture_default_str();
  command.add_option("--top-k", rule.top_k, "Draw from the k likeliest tokens alone; 0 is all")
      ->capture_default_str();
  command
      .add_option("--top-p", rule.top_p,
                  "Draw from the fewest likeliest tokens that together have this probability")
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "Seed of the draws: the same gives the same texts")
      ->capture_default_str();
}

}  // namespace

void add_generate(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command = app.add_subcommand("generate", "Write SMILES with a language model");
  command
      ->add_option("model", arguments->model,
                   "Run directory, checkpoint, or folder of a GPT-2 in HuggingFace's layout")
      ->required();
  command->add_option("-o,--output", arguments->output, "SMILES, one a line (.smi)")->required();
  command->add_option("-n,--count", arguments->count, "How many")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  add_sampling_options(*command, *arguments);
  command->add_option("--prompt", arguments->prompt, "The text that all begin with");
  command->add_option("--max-length", arguments->options.max_length,
                      "Tokens of the longest text; 0 is what the model allows");
  command->add_option("--batch-size", arguments->options.batch_size,
                      "Texts at a time, rounded up to what computes well; 0 is one group a thread. "
                      "Changes memory and speed, never the texts");
  command->add_option("--trained-on", arguments->trained_on,
                      "Data set (.h5), table or SMILES: which molecules are not new; otherwise the "
                      "data set of the run's recipe, where it is still there");
  command->add_option("--json", arguments->json, "Write the figures here as well");
  add_device_option(*command, arguments->device)->capture_default_str();
  command->add_option("--threads", arguments->threads, "CPU threads; 0 = one a core");
  command->callback([arguments] { generate(*arguments); });
}

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#include "apps/tokenizer_training.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "apps/suggest.h"
#include "data/bpe_trainer.h"
#include "data/featurize.h"
#include "data/row_source.h"
#include "data/tokenizer.h"
#include "data/word_tokenizer.h"
#include "tensor/error.h"
#include "tensor/rng.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;

void note(TextProblems& problems, const std::string& place, std::string_view why) {
  if (problems.count++ == 0) problems.first = concat(place, ": ", why);
}

/// The SMILES of a row and random ones of the same molecule. Throws UserError where it is none.
std::vector<std::string> texts_of(const data::SourceRow& row, const TokenizerTraining& training) {
  check<UserError>(row.problem.empty(), row.problem);
  check<UserError>(!row.smiles.empty(), "there is no SMILES");
  std::vector<std::string> texts = {row.smiles};
  if (training.random == 0) return texts;
  const data::Molecule molecule(row.smiles);
  for (std::int64_t i = 0; i < training.random; ++i) {
    const auto purpose = static_cast<std::uint64_t>(row.line);
    const auto number = static_cast<std::uint64_t>(i);
    texts.push_back(molecule.random_smiles(derive_key(training.seed, purpose, number).stream));
  }
  return texts;
}

/// Calls f(text, "file:line") for each text of the sources.
template <class F>
void for_each_text(const TokenizerTraining& training, TextProblems& left_out,
                   const std::function<void(double)>& progress, const F& f) {
  data::SourceColumns columns;
  columns.smiles = training.smiles_column;
  std::uintmax_t total = 1;
  for (const fs::path& path : training.sources) total += fs::file_size(path);
  std::uintmax_t before = 0;
  for (const fs::path& path : training.sources) {
    const auto source = data::open_source(path, columns);
    for (data::SourceRow row; source->next(row);) {
      const std::string place = concat(path.string(), ":", row.line);
      try {
        for (const std::string& text : texts_of(row, training)) f(text, place);
      } catch (const UserError& error) {
        note(left_out, place, error.what());
      }
      const auto done = before + static_cast<std::uintmax_t>(source->bytes_read());
      progress(static_cast<double>(done) / static_cast<double>(total));
    }
    before += fs::file_size(path);
  }
}

/// Learns from every text.
std::unique_ptr<data::Tokenizer> learn(const TokenizerTraining& training, TokenizerReport& report,
                                       const std::function<void(double)>& progress) {
  data::SmilesVocabulary words;
  data::BpeTrainer pairs;
  const bool bpe = training.kind == "bpe";
  for_each_text(training, report.left_out, progress,
                [&](const std::string& text, const std::string&) {
                  bpe ? pairs.add(text) : words.add(text);
                  ++report.texts;
                });
  check<UserError>(report.texts > 0, training.sources.front().string(),
                   " holds no SMILES to learn ", "from",
                   report.left_out.count > 0 ? "; " + report.left_out.first : "");
  const auto set = [](std::int64_t& limit, std::int64_t value) {
    if (value > 0) limit = value;
  };
  data::BpeTrainer::Limits pair_limits;
  data::SmilesVocabulary::Limits word_limits;
  set(pair_limits.size, training.size);
  set(pair_limits.min_frequency, training.min_frequency);
  set(word_limits.size, training.size);
  set(word_limits.min_frequency, training.min_frequency);
  if (bpe) return pairs.train(pair_limits);
  return words.train(word_limits);
}

}  // namespace

TokenizerReport train_tokenizer(const TokenizerTraining& training, const fs::path& folder,
                                const std::function<void(double)>& progress) {
  const std::vector<std::string> kinds = {"smiles", "bpe"};
  check<UserError>(std::ranges::find(kinds, training.kind) != kinds.end(), "--kind ", training.kind,
                   " is neither smiles nor bpe", did_you_mean(training.kind, kinds));
  TokenizerReport report;
  const auto tokenizer =
      learn(training, report, [&](double fraction) { progress(0.5 * fraction); });
  tokenizer->save(folder);
  report.vocabulary = tokenizer->vocabulary().size();
  TextProblems seen;
  for_each_text(
      training, seen, [&](double fraction) { progress(0.5 + 0.5 * fraction); },
      [&](const std::string& text, const std::string& place) {
        const data::Encoded encoded = tokenizer->encode(text);
        report.tokens += static_cast<std::int64_t>(encoded.ids.size()) - 2;
        const std::string problem = data::round_trip_problem(*tokenizer, text, encoded);
        if (!problem.empty()) note(report.not_back, place, problem);
      });
  return report;
}

}  // namespace moiety::apps

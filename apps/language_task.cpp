// SPDX-License-Identifier: Apache-2.0
#include "apps/language_task.h"

#include <algorithm>
#include <cmath>

#include "apps/evaluation.h"
#include "apps/prediction_table.h"
#include "autograd/ops/elementwise.h"

namespace moiety::apps {
namespace {

/// What judge_part() says of a sequence, sums over its guessed tokens.
enum Figure : std::size_t {
  kLogLikelihood,
  kTokens,
  kHits,
  kUnigramLogLikelihood,
  kUnigramHits,
  kFigures
};

/// The most likely token of a row of scores and the logarithm of the probability of another.
std::pair<std::int32_t, double> read_scores(std::span<const float> scores, std::int32_t label) {
  const auto most = std::ranges::max_element(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score) - *most);
  return {static_cast<std::int32_t>(most - scores.begin()),
          static_cast<double>(scores[static_cast<std::size_t>(label)]) - *most - std::log(sum)};
}

/// Loss a token, perplexity and accuracy from the sums over sequences.
SplitScores scores_of(const std::vector<double>& figures, Figure log_likelihood, Figure hits) {
  double likelihood = 0;
  double right = 0;
  double tokens = 0;
  for (std::size_t i = 0; i < figures.size(); i += kFigures) {
    likelihood += figures[i + log_likelihood];
    right += figures[i + hits];
    tokens += figures[i + kTokens];
  }
  const double loss = -likelihood / tokens;
  return {&language_metrics(),
          {{"", "", {loss, std::exp(loss), right / tokens}, static_cast<std::int64_t>(tokens)}}};
}

/// The first two figures of each sequence.
std::vector<double> predictions_of(const std::vector<double>& figures) {
  std::vector<double> out;
  for (std::size_t i = 0; i < figures.size(); i += kFigures) {
    out.insert(out.end(), {figures[i + kLogLikelihood], figures[i + kTokens]});
  }
  return out;
}

class LanguageObjective final : public Objective {
 public:
  LanguageObjective(const LanguageTask& task, const data::Dataset& dataset, const Recipe& recipe)
      : task_(task), dataset_(dataset), batching_(task.input().batching(task.guessed(), recipe)) {
    check<UserError>(recipe.train.loss == "auto" || recipe.train.loss == "cross_entropy",
                     "train.loss = \"", recipe.train.loss,
                     "\" is of targets, and a language model learns tokens; use cross_entropy or "
                     "auto");
  }

  std::vector<std::int64_t> rows(data::Split split) const override {
    return task_.input().rows_that_fit(dataset_, dataset_.split(split));
  }
  data::LoaderOptions loader_options() const override {
    return {.sequences = batching_, .tokens_per_part = tokens_per_training_part(task_.device())};
  }

  StepParts step_parts(std::vector<data::LoadedBatch> batches) const override {
    auto parts =
        std::make_shared<const std::vector<TokenBatch>>(join_sequences(std::move(batches)));
    StepParts out;
    out.count = std::ssize(*parts);
    for (const TokenBatch& part : *parts) out.counted += part.labels.numel();
    out.loss = [this, parts](std::int64_t i, nn::ForwardContext& context, double scale) {
      const TokenBatch part = to_device((*parts)[static_cast<std::size_t>(i)], task_.device());
      return ops::affine(task_.loss(part, context), scale);
    };
    return out;
  }

  std::optional<RecordedBatches> recorded() const override {
    RecordedBatches out;
    out.loader.sequences = batching_;
    out.loader.pack_sequences = [this](const TokenBatch& batch) {
      return pack_for_step(batch, task_.spec().transformer.max_length, task_.device());
    };
    out.counted = [](const PackedBatch& batch) {
      const Tensor& labels = batch.tokens.labels;
      const std::span values(labels.data<std::int32_t>(), static_cast<std::size_t>(labels.numel()));
      return std::ranges::count_if(values, [](std::int32_t label) { return label >= 0; });
    };
    out.loss = nn::TokenLoss([this](const TokenBatch& batch, nn::ForwardContext& context) {
      return task_.loss(batch, context);
    });
    return out;
  }

  Validation validate() const override {
    Validation out;
    out.scores = task_.evaluate(dataset_, dataset_.split(data::Split::valid));
    out.loss = out.scores.value("loss");
    return out;
  }
  double rank(const Validation& validation) const override { return validation.loss; }

 private:
  const LanguageTask& task_;
  data::Dataset dataset_;
  data::SequenceBatching batching_;
};

}  // namespace

LanguageTask::LanguageTask(const ModelSpec& spec, Device& device,
                           data::SequenceBatching::Objective objective)
    : Task(spec, device), input_(spec), guessed_(objective) {}

void LanguageTask::check_data(const data::Dataset& dataset) const {
  check_tokens(spec(), dataset.info());
}

std::unique_ptr<Objective> LanguageTask::objective(const data::Dataset& dataset,
                                                   const Recipe& recipe) const {
  return std::make_unique<LanguageObjective>(*this, dataset, recipe);
}

std::vector<double> LanguageTask::judge_part(const TokenBatch& part,
                                             const UnigramPredictor* unigram) const {
  std::vector<double> out(static_cast<std::size_t>(part.sequences()) * kFigures, 0.0);
  const std::int64_t guessed = part.labels.numel();
  if (guessed == 0) return out;
  nn::ForwardContext context;
  const Variable output = scores(to_device(part, device()), context);
  const std::vector<float> values = output.data().to_vector<float>();
  const auto vocabulary = static_cast<std::size_t>(output.size(1));
  const auto* ptr = part.ptr.data<std::int32_t>();
  const auto* rows = part.scored.index.data<std::int32_t>();
  const auto* labels = part.labels.data<std::int32_t>();
  std::int64_t sequence = 0;
  for (std::int64_t i = 0; i < guessed; ++i) {
    while (rows[i] >= ptr[sequence + 1]) ++sequence;
    const std::span row(values.data() + static_cast<std::size_t>(i) * vocabulary, vocabulary);
    const auto [likeliest, log_probability] = read_scores(row, labels[i]);
    double* figures = out.data() + static_cast<std::size_t>(sequence) * kFigures;
    figures[kLogLikelihood] += log_probability;
    figures[kTokens] += 1;
    figures[kHits] += likeliest == labels[i];
    if (unigram == nullptr) continue;
    figures[kUnigramLogLikelihood] += unigram->log_probability[static_cast<std::size_t>(labels[i])];
    figures[kUnigramHits] += unigram->most_frequent == labels[i];
  }
  return out;
}

std::vector<double> LanguageTask::judge(
    const std::function<std::vector<TokenBatch>(std::int64_t tokens)>& collate,
    const UnigramPredictor* unigram) const {
  return predict_in_parts<TokenBatch>(
      tokens_per_part(device(), spec().transformer.vocabulary), collate,
      [&](const TokenBatch& part) { return judge_part(part, unigram); }, device());
}

std::vector<double> LanguageTask::judge_rows(const data::Dataset& dataset,
                                             std::span<const std::int64_t> rows,
                                             const UnigramPredictor* unigram) const {
  constexpr std::size_t kRowsAtATime = 4096;  // memory stays bounded for any data set
  std::vector<double> out;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtATime) {
    const auto some = rows.subspan(begin, std::min(kRowsAtATime, rows.size() - begin));
    const auto collate = [&](std::int64_t tokens) {
      return data::collate_tokens(dataset, some, input_.batching(guessed_), /*epoch=*/0, tokens,
                                  device().host());
    };
    const auto figures = judge(collate, unigram);
    out.insert(out.end(), figures.begin(), figures.end());
  }
  return out;
}

SplitScores LanguageTask::evaluate(const data::Dataset& dataset,
                                   std::span<const std::int64_t> rows) const {
  const auto fitting = input_.rows_that_fit(dataset, rows);
  return scores_of(judge_rows(dataset, fitting, nullptr), kLogLikelihood, kHits);
}

UnigramPredictor LanguageTask::count_tokens(const data::Dataset& dataset) const {
  // One more of each: a token that training has not seen is unlikely, not impossible.
  std::vector<double> counts(static_cast<std::size_t>(spec().transformer.vocabulary), 1.0);
  double all = static_cast<double>(counts.size());
  for (const std::int64_t row : dataset.split(data::Split::train)) {
    const auto sequence = dataset.tokens(row);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      if (!is_guessed(sequence, i)) continue;
      counts[static_cast<std::size_t>(sequence[i])] += 1;
      all += 1;
    }
  }
  UnigramPredictor out;
  out.most_frequent = static_cast<std::int32_t>(std::ranges::max_element(counts) - counts.begin());
  for (const double count : counts) out.log_probability.push_back(std::log(count / all));
  return out;
}

RunOutcome LanguageTask::outcome(const data::Dataset& dataset) const {
  const UnigramPredictor unigram = count_tokens(dataset);
  RunOutcome out;
  for (const data::Split split : {data::Split::valid, data::Split::test}) {
    const auto rows = input_.rows_that_fit(dataset, dataset.split(split));
    const auto figures = judge_rows(dataset, rows, &unigram);
    out.metrics[name_of(split)] = scores_of(figures, kLogLikelihood, kHits);
    out.baselines["unigram predictor"][name_of(split)] =
        scores_of(figures, kUnigramLogLikelihood, kUnigramHits);
  }
  out.chosen_by = "validation loss";
  const auto test = dataset.split(data::Split::test);
  const auto predicted = predict(dataset, test);
  const auto ids = dataset.ids(test);
  const auto smiles = dataset.smiles(test);
  PredictionTable table(columns());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    table.add(ids[i], smiles[i], predicted[i].values, predicted[i].problem);
  }
  out.test_predictions = table.text();
  return out;
}

std::vector<RowPrediction> LanguageTask::predict(const data::Dataset& dataset,
                                                 std::span<const std::int64_t> rows) const {
  std::vector<std::string> problems;
  std::vector<std::int64_t> fitting;
  for (const std::int64_t row : rows) {
    problems.push_back(input_.problem_of_length(std::ssize(dataset.tokens(row))));
    if (problems.back().empty()) fitting.push_back(row);
  }
  const auto figures = judge_rows(dataset, fitting, nullptr);
  return rows_with_problems(predictions_of(figures), 2, std::move(problems));
}

std::vector<RowPrediction> LanguageTask::predict(std::span<const data::SourceRow> rows,
                                                 std::int64_t first_row) const {
  auto [sequences, problems] = input_.encode(rows, device());
  std::vector<double> figures;
  if (!sequences.empty()) {
    const auto collate = [&](std::int64_t tokens) {
      return data::collate_tokens(sequences, first_row, input_.batching(guessed_), /*epoch=*/0,
                                  tokens, device().host());
    };
    figures = judge(collate, nullptr);
  }
  return rows_with_problems(predictions_of(figures), 2, std::move(problems));
}

}  // namespace moiety::apps

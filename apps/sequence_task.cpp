// SPDX-License-Identifier: Apache-2.0
#include "apps/sequence_task.h"

#include "apps/evaluation.h"

namespace moiety::apps {
namespace {

constexpr auto kStarts = data::SequenceBatching::Objective::starts;

class SequenceObjective final : public SupervisedObjective {
 public:
  SequenceObjective(const SequenceTask& task, const data::Dataset& dataset, const Recipe& recipe)
      : SupervisedObjective(task, dataset, recipe),
        model_(task.model()),
        device_(task.device()),
        batching_(task.input().batching(kStarts, recipe)) {}

  data::LoaderOptions loader_options() const override {
    return {.sequences = batching_, .tokens_per_part = tokens_per_training_part(device_)};
  }

  StepParts step_parts(std::vector<data::LoadedBatch> batches) const override {
    auto parts =
        std::make_shared<const std::vector<TokenBatch>>(join_sequences(std::move(batches)));
    StepParts out;
    out.count = std::ssize(*parts);
    for (const TokenBatch& part : *parts) out.counted += present(part.y);
    out.loss = [this, parts](std::int64_t i, nn::ForwardContext& context, double scale) {
      TokenBatch part = (*parts)[static_cast<std::size_t>(i)];
      part.y = targets().wanted(part.y, columns());
      part = to_device(part, device_);
      return targets().loss(model_.forward(part, context), part.y, recipe(), scale);
    };
    return out;
  }

  std::optional<RecordedBatches> recorded() const override {
    RecordedBatches out;
    out.loader.sequences = batching_;
    out.loader.pack_sequences = [this](const TokenBatch& batch) {
      TokenBatch wanted = batch;
      wanted.y = targets().wanted(batch.y, columns());
      return pack_for_step(wanted, model_.config().max_length, device_);
    };
    out.counted = [](const PackedBatch& batch) { return count_present(batch.tokens.y); };
    out.loss = nn::TokenLoss([this](const TokenBatch& batch, nn::ForwardContext& context) {
      return targets().loss(model_.forward(batch, context), batch.y, recipe(), 1.0);
    });
    return out;
  }

 private:
  const nn::SequenceModel& model_;
  Device& device_;
  data::SequenceBatching batching_;
};

}  // namespace

SequenceTask::SequenceTask(const ModelSpec& spec, Device& device, std::uint64_t seed)
    : SupervisedTask(spec, device), input_(spec) {
  nn::Initializer init(device, seed);
  model_ = std::make_unique<nn::SequenceModel>(init, spec.transformer, std::ssize(spec.targets));
}

void SequenceTask::check_data(const data::Dataset& dataset) const {
  check_tokens(spec(), dataset.info());
}

std::unique_ptr<Objective> SequenceTask::objective(const data::Dataset& dataset,
                                                   const Recipe& recipe) const {
  return std::make_unique<SequenceObjective>(*this, dataset, recipe);
}

std::vector<std::int64_t> SequenceTask::rows_that_fit(const data::Dataset& dataset,
                                                      std::span<const std::int64_t> rows) const {
  return input_.rows_that_fit(dataset, rows);
}

std::string SequenceTask::problem_of(const data::Dataset& dataset, std::int64_t row) const {
  return input_.problem_of_length(std::ssize(dataset.tokens(row)));
}

std::vector<double> SequenceTask::predict_sequences(
    const std::function<std::vector<TokenBatch>(std::int64_t tokens)>& collate) const {
  return predict_in_parts<TokenBatch>(
      tokens_per_part(device(), model_->config().hidden), collate,
      [this](const TokenBatch& part) {
        nn::ForwardContext context;
        return targets().restore(model_->forward(to_device(part, device()), context).data());
      },
      device());
}

std::vector<double> SequenceTask::predict_values(const data::Dataset& dataset,
                                                 std::span<const std::int64_t> rows) const {
  return predict_sequences([&](std::int64_t tokens) {
    return data::collate_tokens(dataset, rows, input_.batching(kStarts), /*epoch=*/0, tokens,
                                device().host());
  });
}

std::vector<RowPrediction> SequenceTask::predict(std::span<const data::SourceRow> rows,
                                                 std::int64_t first_row) const {
  auto [sequences, problems] = input_.encode(rows, device());
  std::vector<double> values;
  if (!sequences.empty()) {
    values = predict_sequences([&](std::int64_t tokens) {
      return data::collate_tokens(sequences, first_row, input_.batching(kStarts), /*epoch=*/0,
                                  tokens, device().host());
    });
  }
  return rows_with_problems(values, spec().targets.size(), std::move(problems));
}

}  // namespace moiety::apps

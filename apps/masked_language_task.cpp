// SPDX-License-Identifier: Apache-2.0
#include "apps/language_task.h"
#include "nn/sequence_models.h"

namespace moiety::apps {
namespace {

class MaskedLanguageTask final : public LanguageTask {
 public:
  MaskedLanguageTask(const ModelSpec& spec, Device& device, std::uint64_t seed)
      : LanguageTask(spec, device, data::SequenceBatching::Objective::masked),
        init_(device, seed),
        model_(init_, spec.transformer) {}

  const nn::Module& model() const override { return model_; }
  nn::StateDictNames state_dict_names(std::int64_t padding) const override {
    return nn::state_dict_names(model_, padding);
  }
  Variable loss(const TokenBatch& batch, nn::ForwardContext& context) const override {
    return model_.loss(batch, context);
  }

 protected:
  Variable scores(const TokenBatch& batch, nn::ForwardContext& context) const override {
    return model_.forward(batch, context);
  }
  bool is_guessed(std::span<const std::int32_t> sequence, std::size_t at) const override {
    return !input().tokenizer()->vocabulary().is_control(sequence[at]);
  }

 private:
  nn::Initializer init_;
  nn::MaskedLanguageModel model_;
};

}  // namespace

std::unique_ptr<Task> make_masked_language_task(const ModelSpec& spec, Device& device,
                                                std::uint64_t seed) {
  return std::make_unique<MaskedLanguageTask>(spec, device, seed);
}

}  // namespace moiety::apps

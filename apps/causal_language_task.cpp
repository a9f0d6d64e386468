// SPDX-License-Identifier: Apache-2.0
#include "apps/language_task.h"
#include "nn/sequence_models.h"

namespace moiety::apps {
namespace {

class CausalLanguageTask final : public LanguageTask {
 public:
  CausalLanguageTask(const ModelSpec& spec, Device& device, std::uint64_t seed)
      : LanguageTask(spec, device, data::SequenceBatching::Objective::causal),
        init_(device, seed),
        model_(init_, spec.transformer) {}

  const nn::Module& model() const override { return model_; }
  nn::StateDictNames state_dict_names(std::int64_t) const override {
    return nn::state_dict_names(model_);
  }
  Variable loss(const TokenBatch& batch, nn::ForwardContext& context) const override {
    return model_.loss(batch, context);
  }

 protected:
  Variable scores(const TokenBatch& batch, nn::ForwardContext& context) const override {
    return model_.forward(batch, context);
  }
  bool is_guessed(std::span<const std::int32_t>, std::size_t at) const override { return at > 0; }

 private:
  nn::Initializer init_;
  nn::CausalLanguageModel model_;
};

}  // namespace

std::unique_ptr<Task> make_causal_language_task(const ModelSpec& spec, Device& device,
                                                std::uint64_t seed) {
  return std::make_unique<CausalLanguageTask>(spec, device, seed);
}

}  // namespace moiety::apps

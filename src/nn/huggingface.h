// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/sequence_models.h"
#include "nn/state_dict.h"

// Weights as they lie in a model.safetensors of HuggingFace's transformers library, of
// RobertaForMaskedLM, RobertaForSequenceClassification or GPT2LMHeadModel.
namespace moiety::nn {

/// For RoBERTa, whose padding token's number is `padding`: its table of positions begins with
/// padding + 1 rows that are no positions. Each throws UserError where the model has parts that
/// these architectures lack.
StateDictNames state_dict_names(const MaskedLanguageModel& model, std::int64_t padding = 1);
StateDictNames state_dict_names(const SequenceModel& model, std::int64_t padding = 1);
/// For GPT-2.
StateDictNames state_dict_names(const CausalLanguageModel& model);

/// Throws IoError unless a state dict has as many elements as a model of this configuration at
/// least: to be called before the model takes memory for what a damaged config.json says.
void check_elements(const Checkpoint& from, const TransformerConfig& config);

}  // namespace moiety::nn

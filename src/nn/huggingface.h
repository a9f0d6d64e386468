// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/checkpoint.h"
#include "nn/checkpoint_tensors.h"
#include "nn/sequence_models.h"

// Weights under the names and in the layout of HuggingFace's transformers library, as they lie in a
// model.safetensors of RobertaForMaskedLM, RobertaForSequenceClassification or GPT2LMHeadModel.
namespace moiety::nn {

/// Where one of our tensors lies in the other library's state dict.
struct StateDictPlace {
  std::string ours;
  std::vector<std::string> theirs;  ///< several: their rows are joined in ours
  bool transposed = false;          ///< [In, Out] there
  std::int64_t unused_rows = 0;     ///< theirs has so many more in front, which no token reads
  bool head = false;                ///< behind the encoder or decoder
};

/// The tensors of a model, and what a state dict may have besides.
struct StateDictNames {
  std::vector<StateDictPlace> places;
  std::string prefix;                ///< of what is not of the head: "roberta."
  std::vector<std::string> ignored;  ///< names, or beginnings of names that end in '.'
  std::vector<std::string> heads;    ///< likewise, of any head's tensors
};

/// For RoBERTa, whose padding token's number is `padding`: its table of positions begins with
/// padding + 1 rows that are no positions. Each throws UserError where the model has parts that
/// these architectures lack.
StateDictNames state_dict_names(const MaskedLanguageModel& model, std::int64_t padding = 1);
StateDictNames state_dict_names(const SequenceModel& model, std::int64_t padding = 1);
/// For GPT-2.
StateDictNames state_dict_names(const CausalLanguageModel& model);

enum class ImportedPart : std::uint8_t {
  all,
  body,  ///< the head stays as it is, and whatever head the state dict has is not read
};

/// Copies a state dict in f32, f64, bf16 or f16 into a model. Throws IoError listing every tensor
/// that is missing, unexpected or of another shape; nothing is written then. Names without the
/// prefix, as of a model that was saved without its head, are understood.
void import_state_dict(const Checkpoint& from, const StateDictNames& names, const Module& model,
                       ImportedPart part = ImportedPart::all);

/// The reverse: what tensors under our names are there. The result, saved as model.safetensors
/// beside a config.json, is what from_pretrained reads.
Checkpoint export_state_dict(const std::vector<NamedTensor>& tensors, const StateDictNames& names);
/// That of a model's parameters.
Checkpoint export_state_dict(const Module& model, const StateDictNames& names);

}  // namespace moiety::nn

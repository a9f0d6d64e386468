// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nn/transformer_config.h"

namespace moiety::apps {

/// Models of HuggingFace's transformers library that have a counterpart here.
enum class HuggingFaceModel : std::uint8_t {
  masked_language,  ///< RobertaForMaskedLM; RobertaModel as well
  sequence,         ///< RobertaForSequenceClassification
  causal_language,  ///< GPT2LMHeadModel; GPT2Model as well
};

/// What a config.json says.
struct HuggingFaceConfig {
  HuggingFaceModel model = HuggingFaceModel::masked_language;
  nn::TransformerConfig transformer;
  std::int64_t padding = 1;                      ///< the padding token's number (RoBERTa)
  std::int64_t outputs = 2;                      ///< numbers a sequence (sequence)
  bool regression = false;                       ///< they are no scores of classes (sequence)
  bool labels = false;                           ///< they are, of classes that go together
  std::vector<std::string> targets = {};         ///< names of the outputs (sequence)
  std::optional<std::int64_t> first_token = {};  ///< number of the token that begins a text
  std::optional<std::int64_t> last_token = {};   ///< of the one that ends it
};

/// Throws UserError naming the key for what is missing, of a wrong type, or not to be had here;
/// `source` is the file, for messages.
HuggingFaceConfig parse_huggingface_config(const nlohmann::json& json, const std::string& source);
/// That of a file. Throws IoError where there is none or it is not JSON.
HuggingFaceConfig read_huggingface_config(const std::filesystem::path& path);

/// A config.json with which from_pretrained builds the same model. The transformer must have been
/// accepted by nn::state_dict_names.
nlohmann::ordered_json to_json(const HuggingFaceConfig& config);

}  // namespace moiety::apps

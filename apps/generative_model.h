// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "data/tokenizer.h"
#include "nn/generation.h"

namespace moiety::apps {

/// A language model that writes texts, with the tokenizer that they are written in.
struct GenerativeModel {
  std::unique_ptr<nn::CausalLanguageModel> model;
  std::unique_ptr<data::Tokenizer> tokenizer;
  std::optional<std::int32_t> first_token;  ///< begins a text
  std::optional<std::int32_t> last_token;   ///< ends it
};

/// That of a folder in HuggingFace's layout: config.json, model.safetensors and a tokenizer's
/// files. Throws UserError for a folder without them or a model that does not write texts, IoError
/// for damaged files.
GenerativeModel load_generative_model(const std::filesystem::path& folder, Device& device);

/// The tokens of a text that is to be gone on with; "" is a text that just begins. Throws UserError
/// for what the vocabulary lacks, and where no token begins a text.
nn::TokenSequence encode_prompt(const GenerativeModel& model, const std::string& text);

/// The text of a sequence, "" where it has tokens that the tokenizer does not know.
std::string decode_text(const GenerativeModel& model, const nn::TokenSequence& tokens);

}  // namespace moiety::apps

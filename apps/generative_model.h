// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/tokenizer.h"
#include "nn/generation.h"

namespace moiety::apps {

/// A language model that writes texts, with the tokenizer that they are written in.
struct GenerativeModel {
  std::shared_ptr<const nn::CausalLanguageModel> model;
  std::shared_ptr<const data::Tokenizer> tokenizer;
};

/// That of a run, a checkpoint or a folder of a GPT-2 in HuggingFace's layout. Throws UserError for
/// a model that does not write texts, and as load_model_of does.
GenerativeModel load_generative_model(const std::filesystem::path& source, Device& device);

/// The tokens of a text that is to be gone on with; "" is a text that just begins. Throws UserError
/// for what the vocabulary lacks, and where no token begins a text.
nn::TokenSequence encode_prompt(const GenerativeModel& model, const std::string& text);

/// The text of a sequence, "" where it has tokens that the tokenizer does not know.
std::string decode_text(const GenerativeModel& model, const nn::TokenSequence& tokens);

}  // namespace moiety::apps

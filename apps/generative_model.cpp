// SPDX-License-Identifier: Apache-2.0
#include "apps/generative_model.h"

#include <algorithm>

#include "apps/huggingface_config.h"
#include "data/text.h"
#include "nn/huggingface.h"

namespace moiety::apps {
namespace {

using data::TokenRole;

/// The token that the tokenizer or else the config.json has for a role.
std::optional<std::int32_t> token_of(const data::Tokenizer& tokenizer, TokenRole role,
                                     std::optional<std::int64_t> configured,
                                     const std::string& source) {
  if (const auto id = tokenizer.vocabulary().id(role)) return id;
  if (!configured) return std::nullopt;
  check<UserError>(*configured >= 0 && *configured < tokenizer.vocabulary().size(), source,
                   ": token ", *configured, " is not in the vocabulary");
  return static_cast<std::int32_t>(*configured);
}

}  // namespace

GenerativeModel load_generative_model(const std::filesystem::path& folder, Device& device) {
  const auto config_file = folder / "config.json";
  check<UserError>(std::filesystem::exists(config_file), folder.string(),
                   " has no config.json; give a folder of a GPT-2 in HuggingFace's layout");
  const HuggingFaceConfig config = read_huggingface_config(config_file);
  check<UserError>(config.model == HuggingFaceModel::causal_language, config_file.string(),
                   " is not that of a model that writes texts; give a GPT-2 (GPT2LMHeadModel)");
  const auto weights = folder / "model.safetensors";
  check<UserError>(std::filesystem::exists(weights), folder.string(),
                   " has no model.safetensors; save the model with save_pretrained(folder, "
                   "safe_serialization=True)");
  GenerativeModel out;
  out.tokenizer = data::load_tokenizer(folder);
  check<UserError>(out.tokenizer->vocabulary().size() <= config.transformer.vocabulary,
                   folder.string(), ": the tokenizer has ", out.tokenizer->vocabulary().size(),
                   " tokens and the model only ", config.transformer.vocabulary);
  // Before the model takes memory for its weights: the file is as large as it says.
  const auto stored = nn::Checkpoint::load(weights, device.host(), nn::Checkpoint::Integrity::any);
  nn::check_elements(stored, config.transformer);
  nn::Initializer init(device);
  out.model = std::make_unique<nn::CausalLanguageModel>(init, config.transformer);
  nn::import_state_dict(stored, nn::state_dict_names(*out.model), *out.model);
  const std::string source = config_file.string();
  out.first_token = token_of(*out.tokenizer, TokenRole::begin, config.first_token, source);
  out.last_token = token_of(*out.tokenizer, TokenRole::end, config.last_token, source);
  return out;
}

nn::TokenSequence encode_prompt(const GenerativeModel& model, const std::string& text) {
  data::Encoded encoded = model.tokenizer->encode(text);
  check<UserError>(encoded.unknown.empty(), "the prompt has what the vocabulary lacks: ",
                   data::quoted_list(encoded.unknown));
  nn::TokenSequence& ids = encoded.ids;
  const auto& vocabulary = model.tokenizer->vocabulary();
  if (vocabulary.id(TokenRole::end)) ids.pop_back();
  if (!vocabulary.id(TokenRole::begin) && model.first_token) {
    ids.insert(ids.begin(), *model.first_token);
  }
  check<UserError>(!ids.empty(),
                   "the vocabulary has no token that begins a text; give its beginning with "
                   "--prompt");
  return std::move(ids);
}

std::string decode_text(const GenerativeModel& model, const nn::TokenSequence& tokens) {
  const std::int64_t known = model.tokenizer->vocabulary().size();
  const bool all_known =
      std::all_of(tokens.begin(), tokens.end(), [&](std::int32_t t) { return t < known; });
  return all_known ? model.tokenizer->decode(tokens) : "";
}

}  // namespace moiety::apps

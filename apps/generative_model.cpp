// SPDX-License-Identifier: Apache-2.0
#include "apps/generative_model.h"

#include <algorithm>

#include "apps/trained_model.h"
#include "data/text.h"
#include "data/tokenizer_record.h"

namespace moiety::apps {

GenerativeModel load_generative_model(const std::filesystem::path& source, Device& device) {
  const std::shared_ptr<const Task> task = load_model_of(source, device);
  const auto* model = dynamic_cast<const nn::CausalLanguageModel*>(&task->model());
  check<UserError>(
      model != nullptr, source.string(),
      " is no model that writes texts; train one with model.type = \"decoder\" on data "
      "prepared with --task causal, or give a folder of a GPT-2");
  return {{task, model}, data::tokenizer_from_json(task->spec().tokenizer, source.string())};
}

nn::TokenSequence encode_prompt(const GenerativeModel& model, const std::string& text) {
  data::Encoded encoded = model.tokenizer->encode(text);
  check<UserError>(encoded.unknown.empty(), "the prompt has what the vocabulary lacks: ",
                   data::quoted_list(encoded.unknown));
  nn::TokenSequence& ids = encoded.ids;
  if (model.tokenizer->vocabulary().id(data::TokenRole::end)) ids.pop_back();
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

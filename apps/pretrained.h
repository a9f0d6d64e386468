// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "apps/recipe.h"
#include "apps/task.h"
#include "nn/transformer_config.h"

namespace moiety::apps {

/// A trained encoder or decoder that another training begins with: a run, a checkpoint, or a folder
/// in HuggingFace's layout.
struct Pretrained {
  std::string source;  ///< where it is, for messages
  ModelKind kind = ModelKind::masked_language;
  nn::TransformerConfig transformer;
  std::string tokenizer;  ///< as data::tokenizer_json writes it
  std::filesystem::path weights;
  bool huggingface = false;  ///< under that library's names
  std::int64_t padding = 1;  ///< number of its padding token
};

/// What is at `path`. Throws UserError where there is no such model, IoError for damaged files.
Pretrained open_pretrained(const std::filesystem::path& path);

/// Sets the keys of the model's shape to those of the pretrained one. Throws UserError naming a key
/// that is neither that nor the default: the weights would not fit.
void adopt_shape(Recipe& recipe, const Pretrained& from);
/// The same from the recipe of a run that began with it, which messages call `source`.
void adopt_shape(Recipe& recipe, const Recipe& from, const std::string& source);

/// Copies the weights into a new model: those of the head as well where it learns the same, a
/// language; else the head stays as it is. Throws UserError where the tokenizers differ and IoError
/// where the weights do not fit.
void load_weights(const Pretrained& from, const Task& task);

}  // namespace moiety::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "apps/task.h"

namespace moiety::apps {

/// Writes config.json, model.safetensors and the tokenizer's files of an encoder or decoder, which
/// from_pretrained of HuggingFace's transformers loads. Outputs there are in the targets' own
/// units. Throws UserError for a model that has no counterpart there, naming what it would have to
/// be.
void write_huggingface_folder(const Task& task, const std::filesystem::path& folder);

/// The reverse: targets are named as the config.json does. Throws UserError naming the key for what
/// is not to be had here, IoError for weights that do not fit it.
std::unique_ptr<Task> load_huggingface_folder(const std::filesystem::path& folder, Device& device);

}  // namespace moiety::apps

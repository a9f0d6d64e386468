// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "data/tokenizer.h"

namespace moiety::data {

/// Reads a folder whose vocabulary is in tokenizer.json, as recent versions of HuggingFace's
/// transformers write it: a byte-level BPE, or words of SMILES. Throws IoError naming the file and
/// its key, also where the file describes a tokenizer of another kind.
std::unique_ptr<Tokenizer> load_tokenizer_json(const std::filesystem::path& folder);

/// Writes tokenizer.json of a WordTokenizer. Throws IoError.
void write_word_tokenizer_json(const std::filesystem::path& folder,
                               const TokenVocabulary& vocabulary);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/tokenizer.h"

namespace moiety::data {

/// All that makes the tokenizer, as one line of JSON: {"kind": "words" or "byte_bpe", "tokens": in
/// the order of their ids, "roles": {"mask": id, ...}, "added": ids, "merges": [[id, id], ...]}.
/// Two tokenizers that work alike have the same text.
std::string tokenizer_json(const Tokenizer& tokenizer);

/// The tokenizer of such a text. Throws IoError that says, behind `name`, what is wrong with it.
std::unique_ptr<Tokenizer> tokenizer_from_json(const std::string& text, const std::string& name);

/// The tokenizer that made a data set's tokens. Throws UserError where it holds none.
std::unique_ptr<Tokenizer> load_tokenizer_of(const Dataset& dataset);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "data/bpe_merges.h"
#include "data/token_vocabulary.h"

namespace moiety::data {

// The files of a tokenizer in HuggingFace's layout. Those that read throw UserError where a file is
// missing and IoError naming the file and its line or key where its content is not what it should
// be; those that write throw IoError.

/// A larger file is refused: the vocabularies of the largest language models take 5 MB.
constexpr std::size_t kLargestTokenizerFile = std::size_t{64} << 20;

/// vocab.json: an object of tokens with their ids, 0 to one less than there are, each once.
TokenVocabulary read_vocab_json(const std::filesystem::path& path);
/// vocab.txt: a token a line, its id the line's number from 0.
TokenVocabulary read_vocab_txt(const std::filesystem::path& path);
/// merges.txt: two tokens a line with a blank between; both and what they make are in the
/// vocabulary. A line "#version: ..." does not count.
BpeMerges read_merges(const std::filesystem::path& path, const TokenVocabulary& vocabulary);

/// The vocabulary that an object of tokens with their ids is; `name` is for messages.
TokenVocabulary vocabulary_of(const std::string& name, const nlohmann::json& json);
/// The two tokens of a merge written with a blank between, if it is one.
std::optional<std::pair<std::string, std::string>> two_tokens(std::string_view text);
/// Adds the next merge; `place` is for messages.
void add_merge(const std::string& place, const std::string& left, const std::string& right,
               const TokenVocabulary& vocabulary, BpeMerges& merges);

/// Takes added tokens and the roles of special ones from added_tokens.json, tokenizer.json,
/// tokenizer_config.json and special_tokens_map.json, those that there are; a role that none of
/// them names goes to the token of RoBERTa's or BERT's name for it, where the vocabulary has one.
void read_special_tokens(const std::filesystem::path& folder, TokenVocabulary& vocabulary);

/// {"token":0,...} in the order of ids.
std::string vocabulary_json(const TokenVocabulary& vocabulary);
/// The tokens that are special or added, as HuggingFace describes them, by id.
nlohmann::ordered_json added_tokens_json(const TokenVocabulary& vocabulary);
/// Writes tokenizer_config.json: the class that is to read the folder, and the special tokens.
void write_tokenizer_config(const std::filesystem::path& folder, const std::string& tokenizer_class,
                            const TokenVocabulary& vocabulary);
/// Makes the folder where there is none, and removes the files of a tokenizer that are in it: those
/// of another kind would be read in place of what is written next.
void clear_tokenizer_folder(const std::filesystem::path& folder);
/// Replaces the file in one step.
void write_tokenizer_file(const std::filesystem::path& path, std::string_view content);

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "data/partial_file.h"
#include "data/tokenizer_files.h"
#include "tensor/error.h"

namespace moiety::data {

std::string vocabulary_json(const TokenVocabulary& vocabulary) {
  std::string out = "{";
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    if (id > 0) out += ',';
    out += nlohmann::json(vocabulary.token(id)).dump() + ":" + std::to_string(id);
  }
  return out + "}";
}

void clear_tokenizer_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check<IoError>(!error && std::filesystem::is_directory(folder), folder.string(),
                 ": cannot make this folder", error ? ": " + error.message() : "");
  for (const char* name :
       {"vocab.json", "merges.txt", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json"}) {
    std::filesystem::remove(folder / name, error);
    check<IoError>(!error, (folder / name).string(), ": cannot be replaced: ", error.message());
  }
}

void write_tokenizer_file(const std::filesystem::path& path, std::string_view content) {
  PartialFile file(path);
  std::ofstream out(file.path(), std::ios::binary);
  out << content;
  out.close();
  check<IoError>(out.good(), path.string(), ": cannot be written");
  file.place();
}

}  // namespace moiety::data

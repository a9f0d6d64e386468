// SPDX-License-Identifier: Apache-2.0
#include "apps/json_file.h"

#include "apps/text_file.h"
#include "data/tokenizer_text.h"
#include "tensor/error.h"

namespace moiety::apps {

nlohmann::json read_json(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 16 << 20;  // bytes
  std::error_code missing;
  const std::uintmax_t bytes = std::filesystem::file_size(path, missing);
  check<IoError>(missing || bytes <= kMost, path.string(), " has ", bytes,
                 " bytes, more than any file of settings");
  return data::parse_json(path.string(), read_file(path));
}

}  // namespace moiety::apps

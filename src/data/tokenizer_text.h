// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace moiety::data {

/// The content of a tokenizer's file. Throws UserError where it is missing, IoError where it is
/// larger than kLargestTokenizerFile.
std::string read_tokenizer_text(const std::filesystem::path& path);

/// Calls f(line, number from 1) for each line of the file; LF or CRLF ends one. Throws IoError
/// naming the line that is not UTF-8.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view, std::int64_t)>& f);

/// What `text` says in JSON, each event of the parser shown to `watch`, if any. Throws IoError with
/// `name`, line and column, and for values in each other deeper than any sensible file has them.
nlohmann::json parse_json(const std::string& name, const std::string& text,
                          const nlohmann::json::parser_callback_t& watch = nullptr);

}  // namespace moiety::data

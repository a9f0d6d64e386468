// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_text.h"

#include "data/mapped_file.h"
#include "data/tokenizer_files.h"
#include "data/utf8.h"
#include "tensor/error.h"

namespace moiety::data {

std::string read_tokenizer_text(const std::filesystem::path& path) {
  const MappedFile file(path.string());
  check<IoError>(file.bytes().size() <= kLargestTokenizerFile, path.string(), " has ",
                 file.bytes().size(), " bytes, more than the ", kLargestTokenizerFile,
                 " of any tokenizer");
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view, std::int64_t)>& f) {
  const std::string text = read_tokenizer_text(path);
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    check<IoError>(is_utf8(line), path.string(), ":", number, ": not UTF-8");
    if (line.ends_with('\r')) line.remove_suffix(1);
    f(line, number);
    at = end + 1;
  }
}

nlohmann::json parse_json(const std::string& name, const std::string& text,
                          const nlohmann::json::parser_callback_t& watch) {
  constexpr int kDeepest = 64;  // what walks a value without bounds would overflow the stack
  using Event = nlohmann::json::parse_event_t;
  const auto checked = [&](int depth, Event event, nlohmann::json& value) {
    check<IoError>(depth <= kDeepest, name, ": lists and objects in each other more than ",
                   kDeepest, " deep");
    return !watch || watch(depth, event, value);
  };
  try {
    return nlohmann::json::parse(text, checked);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view what =
        error.what();  // "[json.exception.parse_error.101] parse error ..."
    const auto close = what.find("] ");
    throw IoError(
        concat(name, ": ", close == std::string_view::npos ? what : what.substr(close + 2)));
  }
}

}  // namespace moiety::data

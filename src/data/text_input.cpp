// SPDX-License-Identifier: Apache-2.0
#include "data/text_input.h"

#include <cerrno>
#include <cstring>

#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::data {
namespace {

constexpr std::size_t kChunk = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

TextInput::TextInput(const std::filesystem::path& path) : path_(path) {
  check_input_file(path);
  file_.open(path, std::ios::binary);
  check<UserError>(file_.is_open(), "cannot open ", path.string(), ": ", std::strerror(errno));
  peek(0);
  check_is_text();
  if (window_.starts_with(kByteOrderMark)) consume(kByteOrderMark.size());
}

void TextInput::check_is_text() {
  check<UserError>(!window_.starts_with("\x1F\x8B") && !window_.starts_with("BZh") &&
                       !window_.starts_with("\xFD"
                                            "7zXZ") &&
                       !window_.starts_with("PK\x03\x04"),
                   path_.string(), " is compressed; unpack it first");
  check<UserError>(!window_.starts_with("\xFF\xFE") && !window_.starts_with("\xFE\xFF"),
                   path_.string(), " is UTF-16; save it as UTF-8");
  check<UserError>(window_.find('\0') == std::string::npos, path_.string(),
                   " is binary, not a text file of molecules");
}

bool TextInput::fill(std::size_t ahead) {
  window_.erase(0, begin_);
  begin_ = 0;
  while (window_.size() <= ahead && file_) {
    const std::size_t kept = window_.size();
    window_.resize(kept + kChunk);
    file_.read(window_.data() + kept, kChunk);
    window_.resize(kept + static_cast<std::size_t>(file_.gcount()));
    check<IoError>(!file_.bad(), "reading ", path_.string(), " failed at byte ", offset_);
  }
  return window_.size() > ahead;
}

std::size_t TextInput::line_length() {
  std::size_t length = 0;
  while (length <= kLongestRecord) {
    const int c = peek(length);
    if (c == -1 || c == '\n' || c == '\r') break;
    ++length;
  }
  return length;
}

void TextInput::consume(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const int c = peek(i);
    if (c == '\n' || (c == '\r' && peek(i + 1) != '\n')) ++line_;
  }
  begin_ += count;
  offset_ += static_cast<std::int64_t>(count);
}

void TextInput::consume_line_end() {
  if (peek(0) != -1) consume(peek(0) == '\r' && peek(1) == '\n' ? 2 : 1);
}

void TextInput::skip_line() {
  while (const std::size_t length = line_length()) consume(length);
  consume_line_end();
}

}  // namespace moiety::data

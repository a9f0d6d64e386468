// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace moiety::data {

/// A window that slides over a text file: readers look as far ahead as they need and consume what
/// they have understood. Memory is bounded by the longest look ahead.
class TextInput {
 public:
  /// Opens the file and skips a UTF-8 byte order mark. Throws UserError when it cannot be opened,
  /// is no regular file, or is compressed, UTF-16 or binary.
  explicit TextInput(const std::filesystem::path& path);

  /// The character `ahead` places after the next one, or -1 behind the end of the file.
  int peek(std::size_t ahead) {
    if (begin_ + ahead >= window_.size() && !fill(ahead)) return -1;
    return static_cast<unsigned char>(window_[begin_ + ahead]);
  }
  /// The next `count` characters; all must have been peeked at. Valid until the next peek.
  std::string_view view(std::size_t count) const {
    return std::string_view(window_).substr(begin_, count);
  }
  /// Moves on by `count` characters, all peeked at, and counts the line ends among them: LF, CRLF
  /// and CR.
  void consume(std::size_t count);

  /// How many characters there are before the next line end or the end of the file, but no more
  /// than kLongestRecord + 1.
  std::size_t line_length();
  /// Consumes the line end that is the next character; nothing at the end of the file.
  void consume_line_end();
  /// Consumes the rest of the line, however long, and its end.
  void skip_line();

  /// Readers refuse a record that is longer than this, in bytes.
  static constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

  std::int64_t line() const { return line_; }      ///< number of the current line, from 1
  std::int64_t offset() const { return offset_; }  ///< bytes consumed
  const std::filesystem::path& path() const { return path_; }

 private:
  bool fill(std::size_t ahead);
  void check_is_text();

  std::filesystem::path path_;
  std::ifstream file_;
  std::string window_;
  std::size_t begin_ = 0;
  std::int64_t line_ = 1;
  std::int64_t offset_ = 0;
};

}  // namespace moiety::data

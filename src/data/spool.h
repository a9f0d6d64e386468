// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace moiety::data {

/// A column on its way into a file whose size is not known yet: bytes appended to an unnamed file,
/// then read back in order. Vanishes with the program, however that ends.
class Spool {
 public:
  /// Beside `path`, where there is room for the finished file as well. Throws IoError.
  explicit Spool(const std::string& path);

  template <class T>
  void append(const std::vector<T>& values) {
    append_bytes(values.data(), values.size() * sizeof(T));
  }
  void append(std::int64_t value) { append_bytes(&value, sizeof value); }
  void append_text(const std::string& text);  ///< with its terminating zero

  std::int64_t bytes() const { return bytes_; }

  /// Goes back to the first byte; from then on only reads.
  void rewind();
  /// The next `to.size()` bytes. Throws IoError when there are fewer.
  void read(std::span<std::byte> to);
  std::string read_text();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append_bytes(const void* data, std::size_t bytes);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::int64_t bytes_ = 0;
};

}  // namespace moiety::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace moiety::nn {

/// The longest header that is read, as in the safetensors library.
inline constexpr std::int64_t kMostHeaderBytes = 100'000'000;

/// A safetensors file, open for reading: 8 bytes of header length (little-endian), the header, the
/// data. Everything throws IoError naming the file.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  /// The JSON as it lies in the file.
  const std::string& header_text() const { return header_text_; }
  std::int64_t data_bytes() const { return data_bytes_; }

  /// Fills `to` with the bytes from `begin` of the data on.
  void read(std::int64_t begin, std::span<std::byte> to) const;

 private:
  struct Descriptor {
    explicit Descriptor(const std::filesystem::path& path);
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value;
  };

  void read_at(std::int64_t offset, std::span<std::byte> to) const;

  std::string name_;
  Descriptor descriptor_;
  std::string header_text_;
  std::int64_t data_begin_ = 0;
  std::int64_t data_bytes_ = 0;
};

}  // namespace moiety::nn
